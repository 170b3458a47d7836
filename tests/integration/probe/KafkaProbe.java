import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Fills and reads topics with Kafka's own Java client, so that the tests judge Hourfold by code it does not share.
 *
 * <p>Record files have a line per record, fields separated by tabs, bytes in base64, "-" for null:
 * {@code partition timestamp key value headers} when producing ("-" for the partition: the key decides) and
 * {@code partition offset timestamp key value headers} when dumped; headers are {@code name=base64}, separated by commas.
 */
final class KafkaProbe implements CommandLoop.Commands {
  private static final Base64.Encoder TO_TEXT = Base64.getEncoder();
  private static final Base64.Decoder FROM_TEXT = Base64.getDecoder();

  private final String brokers;
  private final Admin admin;

  private KafkaProbe(String brokers) {
    this.brokers = brokers;
    this.admin = Admin.create(Map.of("bootstrap.servers", brokers));
  }

  public static void main(String[] arguments) throws Exception {
    CommandLoop.run(() -> new KafkaProbe(arguments[0]));
  }

  @Override
  public String run(String name, String[] a) throws Exception {
    return switch (name) {
      case "create" -> create(a[0], Arrays.copyOfRange(a, 1, a.length));
      case "grow" -> grow(a[0], Integer.parseInt(a[1]));
      case "produce" -> produce(a[0], Path.of(a[1]));
      case "transact" -> transact(a[0], Path.of(a[1]), a[2].equals("commit"));
      case "dump" -> dump(a[0], Path.of(a[1]));
      case "trim" -> trim(a[0], Long.parseLong(a[1]));
      case "offsets" -> offsets(a[0], a[1]);
      case "members" -> members(a[0]);
      default -> throw new IllegalArgumentException("no command " + name);
    };
  }

  /**
   * create TOPIC:PARTITIONS,... [KEY=VALUE...]; retention.ms=-1 unless a setting says otherwise. Returns once every partition has
   * its leader: before that the broker refuses the first batches of a producer and takes later ones, out of order.
   */
  private String create(String topics, String[] settings) throws Exception {
    var configuration = new HashMap<String, String>(Map.of("retention.ms", "-1"));
    for (String setting : settings) {
      String[] pair = setting.split("=", 2);
      configuration.put(pair[0], pair[1]);
    }
    List<NewTopic> wanted = Arrays.stream(topics.split(",")).map(topic -> topic.split(":"))
        .map(topic -> new NewTopic(topic[0], Optional.of(Integer.valueOf(topic[1])), Optional.empty()).configs(configuration))
        .toList();
    admin.createTopics(wanted).all().get();
    for (NewTopic topic : wanted) awaitLeaders(topic);
    return topics;
  }

  /** The broker that answers may not have heard of the topic yet, which the client takes for an answer. */
  private void awaitLeaders(NewTopic topic) throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (true) {
      try {
        offsets(partitions(topic.name(), topic.numPartitions()), OffsetSpec.latest());
        return;
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException) || System.nanoTime() > deadline) throw e;
        Thread.sleep(50);
      }
    }
  }

  private String grow(String topic, int partitions) throws Exception {
    admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions))).all().get();
    return topic;
  }

  /** trim TOPIC OFFSET: deletes the records below the offset, in every partition. */
  private String trim(String topic, long offset) throws Exception {
    int count = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
    admin.deleteRecords(partitions(topic, count).stream().collect(Collectors.toMap(p -> p, p -> RecordsToDelete.beforeOffset(offset))))
        .all().get();
    return topic;
  }

  /** produce TOPIC FILE -> number of records, all acknowledged. */
  private String produce(String topic, Path file) throws Exception {
    try (var producer = producer(Map.of())) {
      return send(producer, topic, file);
    }
  }

  /** transact TOPIC FILE commit|abort -> number of records, written in one transaction that ends so. */
  private String transact(String topic, Path file, boolean commit) throws Exception {
    try (var producer = producer(Map.of("transactional.id", "probe-" + topic))) {
      producer.initTransactions();
      producer.beginTransaction();
      String sent = send(producer, topic, file);
      if (commit) producer.commitTransaction();
      else producer.abortTransaction();
      return sent;
    }
  }

  private KafkaProducer<byte[], byte[]> producer(Map<String, String> more) {
    var settings = new Properties();
    settings.putAll(more);
    settings.putAll(Map.of("bootstrap.servers", brokers, "acks", "all", "linger.ms", "20", "batch.size", "262144",
        "compression.type", "lz4", "buffer.memory", "67108864", "max.in.flight.requests.per.connection", "1",
        "delivery.timeout.ms", "60000", "request.timeout.ms", "30000"));
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private static String send(KafkaProducer<byte[], byte[]> producer, String topic, Path file) throws Exception {
    var sent = new ArrayList<Future<RecordMetadata>>();
    try (BufferedReader in = Files.newBufferedReader(file, StandardCharsets.US_ASCII)) {
      for (String line; (line = in.readLine()) != null; ) {
        String[] field = line.split("\t", -1);
        var record = new ProducerRecord<byte[], byte[]>(topic, field[0].equals("-") ? null : Integer.valueOf(field[0]),
            Long.valueOf(field[1]), bytes(field[2]), bytes(field[3]));
        for (String header : field[4].isEmpty() ? new String[0] : field[4].split(",")) {
          int equals = header.indexOf('=');
          record.headers().add(new RecordHeader(header.substring(0, equals), bytes(header.substring(equals + 1))));
        }
        sent.add(producer.send(record));
      }
      producer.flush();
      for (Future<RecordMetadata> one : sent) one.get();
    }
    return Integer.toString(sent.size());
  }

  /** dump TOPIC FILE -> number of records; partition by partition in offset order, up to the end offsets of the call. */
  private String dump(String topic, Path file) throws Exception {
    long count = 0;
    try (var consumer = consumer();
        BufferedWriter out = Files.newBufferedWriter(file, StandardCharsets.US_ASCII)) {
      for (TopicPartition partition : partitionsOf(consumer, topic)) {
        long end = consumer.endOffsets(List.of(partition)).get(partition);
        consumer.assign(List.of(partition));
        consumer.seekToBeginning(List.of(partition));
        while (consumer.position(partition) < end) {
          for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
            out.write(record.partition() + "\t" + record.offset() + "\t" + record.timestamp() + "\t" + text(record.key()) + "\t"
                + text(record.value()) + "\t" + text(record.headers()) + "\n");
            count++;
          }
        }
      }
    }
    return Long.toString(count);
  }

  /** offsets GROUP TOPIC -> a word per partition: partition:begin:end:committed:metadata, -1 and "-" where nothing is committed. */
  private String offsets(String group, String topic) throws Exception {
    List<TopicPartition> partitions =
        partitions(topic, admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size());
    var begin = offsets(partitions, OffsetSpec.earliest());
    var end = offsets(partitions, OffsetSpec.latest());
    Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
    return partitions.stream().map(p -> {
      OffsetAndMetadata c = committed.get(p);
      return p.partition() + ":" + begin.get(p) + ":" + end.get(p) + ":" + (c == null ? -1 : c.offset()) + ":"
          + (c == null ? "-" : text(c.metadata().getBytes(StandardCharsets.UTF_8)));
    }).collect(Collectors.joining("\t"));
  }

  private Map<TopicPartition, Long> offsets(List<TopicPartition> partitions, OffsetSpec which) throws Exception {
    return admin.listOffsets(partitions.stream().collect(Collectors.toMap(p -> p, p -> which))).all().get().entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().offset()));
  }

  private static List<TopicPartition> partitions(String topic, int count) {
    return IntStream.range(0, count).mapToObj(i -> new TopicPartition(topic, i)).toList();
  }

  /** members GROUP -> the group's state, then the number of partitions of each member. */
  private String members(String group) throws Exception {
    var description = admin.describeConsumerGroups(List.of(group)).describedGroups().get(group).get();
    return description.groupState() + description.members().stream()
        .map(m -> "\t" + m.assignment().topicPartitions().size()).collect(Collectors.joining());
  }

  private KafkaConsumer<byte[], byte[]> consumer() {
    var settings = new Properties();
    settings.putAll(Map.of("bootstrap.servers", brokers, "enable.auto.commit", "false", "max.poll.records", "5000",
        "isolation.level", "read_committed", "fetch.max.bytes", "16777216", "max.partition.fetch.bytes", "4194304"));
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private static List<TopicPartition> partitionsOf(KafkaConsumer<?, ?> consumer, String topic) {
    return consumer.partitionsFor(topic).stream().map(i -> new TopicPartition(topic, i.partition()))
        .sorted((x, y) -> Integer.compare(x.partition(), y.partition())).toList();
  }

  private static byte[] bytes(String text) {
    return text.equals("-") ? null : FROM_TEXT.decode(text);
  }

  private static String text(byte[] bytes) {
    return bytes == null ? "-" : TO_TEXT.encodeToString(bytes);
  }

  private static String text(Headers headers) {
    var all = new ArrayList<String>();
    for (Header header : headers) all.add(header.key() + "=" + text(header.value()));
    return String.join(",", all);
  }
}
