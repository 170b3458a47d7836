import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Reads HBase with its own Java client, past the Thrift server, so that the tests judge Hourfold by code it does not share.
 * hbase-site.xml on the class path names the servers.
 */
final class HBaseProbe implements CommandLoop.Commands {
  private static final HexFormat HEX = HexFormat.of();

  /** A cell as `watch` last read it. */
  private static final class Seen {
    long timestamp;
    int value;
    long scan;
  }

  private final Connection connection;
  private final Map<String, Seen> seen = new HashMap<>();
  private long scans;

  private HBaseProbe() throws Exception {
    connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
  }

  public static void main(String[] arguments) throws Exception {
    CommandLoop.run(HBaseProbe::new);
  }

  @Override
  public String run(String name, String[] a) throws Exception {
    return switch (name) {
      case "scan" -> scan(a[0], Path.of(a[1]));
      case "watch" -> watch(a[0]);
      case "surpassed" -> surpassed(a[0], Arrays.copyOfRange(a, 1, a.length));
      case "versions" -> versions(a[0], HEX.parseHex(a[1]));
      case "describe" -> describe(a[0]);
      case "put" -> put(a[0], a[1], a[2], a[3], Long.parseLong(a[4]), a[5]);
      case "delete" -> delete(a[0], a[1], Arrays.copyOfRange(a, 2, a.length));
      case "create" -> create(a[0], Arrays.copyOfRange(a, 1, a.length));
      case "alter" -> alter(a[0], Arrays.copyOfRange(a, 1, a.length));
      default -> throw new IllegalArgumentException("no command " + name);
    };
  }

  /** scan TABLE FILE -> number of cells; a line per cell: row, family, qualifier, timestamp, value; the timestamp in decimal, else hex. */
  private String scan(String table, Path file) throws Exception {
    long count = 0;
    try (Table open = connection.getTable(TableName.valueOf(table));
        var scanner = open.getScanner(new Scan().setCaching(1000).setCacheBlocks(false));
        OutputStream out = new BufferedOutputStream(Files.newOutputStream(file), 1 << 20)) {
      for (Result row : scanner) {
        String key = HEX.formatHex(row.getRow());
        for (Cell cell : row.rawCells()) {
          String line = key + "\t"
              + HEX.formatHex(cell.getFamilyArray(), cell.getFamilyOffset(), cell.getFamilyOffset() + cell.getFamilyLength()) + "\t"
              + HEX.formatHex(cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierOffset() + cell.getQualifierLength())
              + "\t" + cell.getTimestamp() + "\t"
              + HEX.formatHex(cell.getValueArray(), cell.getValueOffset(), cell.getValueOffset() + cell.getValueLength()) + "\n";
          out.write(line.getBytes(StandardCharsets.US_ASCII));
          count++;
        }
      }
    }
    return Long.toString(count);
  }

  /**
   * watch TABLE -> number of cells, then a word for each of the first that went back since the last `watch`: a lower timestamp, another
   * value under the same timestamp, or gone. A read that fails compares nothing and forgets nothing.
   */
  private String watch(String table) throws Exception {
    var cells = new ArrayList<Cell>();
    try (Table open = connection.getTable(TableName.valueOf(table));
        var scanner = open.getScanner(new Scan().setCaching(1000).setCacheBlocks(false))) {
      for (Result row : scanner) cells.addAll(Arrays.asList(row.rawCells()));
    }
    scans++;
    var back = new ArrayList<String>();
    for (Cell cell : cells) {
      String name = HEX.formatHex(CellUtil.cloneRow(cell)) + "/" + text(CellUtil.cloneFamily(cell)) + ":" + text(CellUtil.cloneQualifier(cell));
      int value = Arrays.hashCode(CellUtil.cloneValue(cell));
      Seen last = seen.computeIfAbsent(name, n -> new Seen());
      if (cell.getTimestamp() < last.timestamp) back.add(name + " from " + last.timestamp + " to " + cell.getTimestamp());
      else if (cell.getTimestamp() == last.timestamp && value != last.value) back.add(name + " has another value at " + last.timestamp);
      last.timestamp = cell.getTimestamp();
      last.value = value;
      last.scan = scans;
    }
    seen.forEach((name, last) -> {
      if (last.scan != scans) back.add(name + " is gone");
    });
    return cells.size() + back.stream().limit(20).map(what -> "\t" + what).collect(Collectors.joining());
  }

  /** surpassed TABLE ROW:TIMESTAMP... -> how many of these rows have cells, all with a higher timestamp. */
  private String surpassed(String table, String[] rows) throws Exception {
    var gets = new ArrayList<Get>();
    for (String row : rows) gets.add(new Get(HEX.parseHex(row.split(":")[0])));
    int count = 0;
    try (Table open = connection.getTable(TableName.valueOf(table))) {
      Result[] found = open.get(gets);
      for (int i = 0; i < rows.length; i++) {
        long timestamp = Long.parseLong(rows[i].split(":")[1]);
        if (!found[i].isEmpty() && Arrays.stream(found[i].rawCells()).allMatch(cell -> cell.getTimestamp() > timestamp)) count++;
      }
    }
    return Integer.toString(count);
  }

  /** versions TABLE ROW -> a word per cell that the servers still hold, also those that no reader sees: family:qualifier:timestamp:value. */
  private String versions(String table, byte[] row) throws Exception {
    var words = new ArrayList<String>();
    try (Table open = connection.getTable(TableName.valueOf(table));
        var scanner = open.getScanner(new Scan().withStartRow(row).withStopRow(row, true).setRaw(true).readAllVersions())) {
      for (Result found : scanner)
        for (Cell cell : found.rawCells())
          words.add(HEX.formatHex(CellUtil.cloneFamily(cell)) + ":" + HEX.formatHex(CellUtil.cloneQualifier(cell)) + ":"
              + cell.getTimestamp() + ":" + HEX.formatHex(CellUtil.cloneValue(cell)));
    }
    return String.join("\t", words);
  }

  /**
   * describe TABLE -> words NAME=VALUE: splits (hex, comma-separated), table.ATTRIBUTE, and for each FAMILY its .ttl, .versions,
   * .compression, .encoding, .bloom and .ATTRIBUTE.
   */
  private String describe(String table) throws Exception {
    var words = new ArrayList<String>();
    try (Admin admin = connection.getAdmin();
        var locator = connection.getRegionLocator(TableName.valueOf(table))) {
      TableDescriptor descriptor = admin.getDescriptor(TableName.valueOf(table));
      var splits = new ArrayList<String>();
      for (byte[] start : locator.getStartKeys()) if (start.length > 0) splits.add(HEX.formatHex(start));
      words.add("splits=" + String.join(",", splits));
      var attributes = new TreeMap<String, String>();
      descriptor.getValues().forEach((k, v) -> attributes.put(printable(k.get()), printable(v.get())));
      attributes.forEach((k, v) -> words.add("table." + k + "=" + v));
      for (ColumnFamilyDescriptor family : descriptor.getColumnFamilies()) {
        String prefix = family.getNameAsString() + ".";
        words.add(prefix + "ttl=" + family.getTimeToLive());
        words.add(prefix + "versions=" + family.getMaxVersions());
        words.add(prefix + "compression=" + family.getCompressionType());
        words.add(prefix + "encoding=" + family.getDataBlockEncoding());
        words.add(prefix + "bloom=" + family.getBloomFilterType());
        family.getConfiguration().forEach((k, v) -> words.add(prefix + k + "=" + v));
      }
    }
    return String.join("\t", words);
  }

  /** put TABLE ROW FAMILY QUALIFIER TIMESTAMP VALUE; row, qualifier and value in hex: what somebody changes by hand. */
  private String put(String table, String row, String family, String qualifier, long timestamp, String value) throws Exception {
    try (Table open = connection.getTable(TableName.valueOf(table))) {
      open.put(new Put(HEX.parseHex(row)).addColumn(Bytes.toBytes(family), HEX.parseHex(qualifier), timestamp, HEX.parseHex(value)));
    }
    return row;
  }

  /** delete TABLE ROW [FAMILY QUALIFIER]: a row, or all versions of one cell; row and qualifier in hex. */
  private String delete(String table, String row, String[] cell) throws Exception {
    Delete delete = new Delete(HEX.parseHex(row));
    if (cell.length == 2) delete.addColumns(Bytes.toBytes(cell[0]), HEX.parseHex(cell[1]));
    try (Table open = connection.getTable(TableName.valueOf(table))) {
      open.delete(delete);
    }
    return row;
  }

  /** create TABLE FAMILY... : a plain table, for tests of tables that Hourfold did not make. */
  private String create(String table, String[] families) throws Exception {
    var builder = TableDescriptorBuilder.newBuilder(TableName.valueOf(table));
    builder.setColumnFamilies(List.of(families).stream().map(ColumnFamilyDescriptorBuilder::of).toList());
    try (Admin admin = connection.getAdmin()) {
      admin.createTable(builder.build());
    }
    return table;
  }

  /** alter TABLE KEY=VALUE... : values of the table's descriptor, an empty one is removed; returns when all regions have been reopened. */
  private String alter(String table, String[] settings) throws Exception {
    try (Admin admin = connection.getAdmin()) {
      var builder = TableDescriptorBuilder.newBuilder(admin.getDescriptor(TableName.valueOf(table)));
      for (String setting : settings) {
        String[] pair = setting.split("=", 2);
        if (pair[1].isEmpty()) {
          builder.removeValue(pair[0]);
        } else {
          builder.setValue(pair[0], pair[1]);
        }
      }
      admin.modifyTable(builder.build());
    }
    return table;
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static String printable(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8).replaceAll("[\\t\\r\\n]", " ");
  }
}
