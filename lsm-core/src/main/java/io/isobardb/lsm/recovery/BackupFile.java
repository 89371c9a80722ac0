package io.isobardb.lsm.recovery;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.SSTableMeta;
import io.isobardb.lsm.version.Recovered;
import io.isobardb.lsm.version.VersionEdit;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What is known of one backup: the store at one moment, and its SSTables by what they hold.
 *
 * <pre>
 * isobar backup 2                   1 up to format version 6 of stores
 * created MILLIS                    since the Unix epoch
 * store UUID PAGE_SIZE LSN
 * path PATH                         of the store, in Base64
 * copied BYTES                      that this backup added
 * edits EDITS                       of the manifest, in Base64
 * table NUMBER SIZE HASH            for each SSTable; the hash is SHA-256, in hexadecimal
 * end HASH                          of all before this line
 * </pre>
 *
 * @param id of this backup, in the name of its file
 * @param copiedBytes of the SSTables that no earlier backup had
 */
record BackupFile(
    long id, Source source, long copiedBytes, List<VersionEdit> edits, List<Table> tables) {
  private static final String HEADER = "isobar backup 2";

  /** That of backups whose SSTables are of earlier format versions; the lines are the same. */
  private static final String EARLIER_HEADER = "isobar backup 1";

  private static final String PREFIX = "backup-";
  private static final int DIGITS = 6;

  /**
   * What was backed up.
   *
   * @param path of the store
   * @param lsn its moment
   * @param createdMillis when that was, since the Unix epoch
   */
  record Source(UUID storeId, int pageSize, String path, long lsn, long createdMillis) {}

  /**
   * An SSTable.
   *
   * @param number in the store
   * @param hash of its contents
   */
  record Table(long number, long sizeBytes, String hash) {
    /** The name of its file among the backups. */
    String fileName() {
      return hash + BackupDirectory.TABLE;
    }
  }

  static String fileName(long id) {
    String digits = Long.toString(id);
    return PREFIX + "0".repeat(Math.max(0, DIGITS - digits.length())) + digits;
  }

  /** The ID of a backup whose file has this name; -1 if it is none. */
  static long idOf(String name) {
    String digits = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : "";
    return digits.matches("[0-9]{6,18}") ? Long.parseLong(digits) : -1;
  }

  static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("each Java platform has SHA-256", e);
    }
  }

  static String text(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }

  private static String hash(String text) {
    MessageDigest digest = digest();
    digest.update(text.getBytes(UTF_8));
    return text(digest);
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  byte[] encode() {
    StringBuilder text = new StringBuilder(HEADER).append('\n');
    text.append("created ").append(source.createdMillis()).append('\n');
    text.append("store ").append(source.storeId()).append(' ').append(source.pageSize());
    text.append(' ').append(source.lsn()).append('\n');
    text.append("path ").append(base64(source.path().getBytes(UTF_8))).append('\n');
    text.append("copied ").append(copiedBytes).append('\n');
    text.append("edits ").append(base64(VersionEdit.encode(edits))).append('\n');
    for (Table table : tables) {
      text.append("table ").append(table.number()).append(' ').append(table.sizeBytes());
      text.append(' ').append(table.hash()).append('\n');
    }
    String all = text.toString();
    return (all + "end " + hash(all) + "\n").getBytes(UTF_8);
  }

  /**
   * Reads what {@link #encode} gave.
   *
   * @throws CorruptionException if it is something else
   * @throws FormatException if a newer release has written it
   */
  static BackupFile decode(long id, byte[] bytes) {
    String name = fileName(id);
    String text = new String(bytes, UTF_8);
    int end = text.lastIndexOf("end ");
    if (end < 0 || !text.substring(end).equals("end " + hash(text.substring(0, end)) + "\n")) {
      throw new CorruptionException(name, 0, "its checksum does not match");
    }
    String[] lines = text.substring(0, end).split("\n");
    if (!lines[0].equals(HEADER) && !lines[0].equals(EARLIER_HEADER)) {
      throw new FormatException(
          name + " begins with '" + lines[0] + "', and this release knows '" + HEADER + "'");
    }
    try {
      String[] store = field(lines[2], "store").split(" ");
      Source source =
          new Source(
              UUID.fromString(store[0]),
              Integer.parseInt(store[1]),
              new String(Base64.getDecoder().decode(field(lines[3], "path")), UTF_8),
              Long.parseLong(store[2]),
              Long.parseLong(field(lines[1], "created")));
      byte[] edits = Base64.getDecoder().decode(field(lines[5], "edits"));
      List<Table> tables = new ArrayList<>();
      for (int i = 6; i < lines.length; i++) {
        String[] table = field(lines[i], "table").split(" ");
        tables.add(new Table(Long.parseLong(table[0]), Long.parseLong(table[1]), table[2]));
      }
      BackupFile backup =
          new BackupFile(
              id,
              source,
              Long.parseLong(field(lines[4], "copied")),
              VersionEdit.decode(name, edits),
              List.copyOf(tables));
      backup.check();
      return backup;
    } catch (IllegalArgumentException e) {
      throw new CorruptionException(name, 0, "it can't be read: " + e.getMessage());
    } catch (IndexOutOfBoundsException e) {
      throw new CorruptionException(name, 0, "it can't be read: it is too short");
    }
  }

  /**
   * Checks that a store can be made of this.
   *
   * @throws IllegalArgumentException if not
   */
  private void check() {
    int pageSize = source.pageSize();
    if (!StoreProperties.isPageSize(pageSize)) {
      throw new IllegalArgumentException("pages of " + pageSize + " bytes");
    }
    Map<Long, Long> sizes = new HashMap<>();
    for (Table table : tables) {
      if (!table.hash().matches("[0-9a-f]{64}")) {
        throw new IllegalArgumentException("'" + table.hash() + "' is no hash");
      }
      if (sizes.put(table.number(), table.sizeBytes()) != null) {
        throw new IllegalArgumentException("two tables " + table.number());
      }
    }
    for (SSTableMeta meta : VersionEdit.tables(edits)) {
      String flaw = meta.flaw(pageSize);
      if (flaw != null) {
        throw new IllegalArgumentException(meta.fileName() + " has " + flaw);
      }
      Long size = sizes.remove(meta.fileNumber());
      if (size == null || size != meta.sizeBytes()) {
        throw new IllegalArgumentException(
            meta.fileName()
                + " has "
                + meta.sizeBytes()
                + " bytes, and was backed up with "
                + size);
      }
    }
    if (!sizes.isEmpty()) {
      throw new IllegalArgumentException("no tree has the tables " + sizes.keySet());
    }
    for (Recovered.Tree tree : VersionEdit.trees(edits)) {
      // An order of a user's is not known here: the opening of what is restored looks.
      if (TreeText.orderName(tree.definition()).equals(KeyOrder.BYTES.name())) {
        tree.version(KeyOrder.BYTES);
      }
    }
  }

  private static String field(String line, String name) {
    if (!line.startsWith(name + " ")) {
      throw new IllegalArgumentException("there is no " + name + " in '" + line + "'");
    }
    return line.substring(name.length() + 1);
  }
}
