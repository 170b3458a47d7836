import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
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

  private final Connection connection;

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

  private static String printable(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8).replaceAll("[\\t\\r\\n]", " ");
  }
}
