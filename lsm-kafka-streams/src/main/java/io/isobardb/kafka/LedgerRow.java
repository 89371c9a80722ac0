package io.isobardb.kafka;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.query.Position;

/**
 * What is known of one state store beside its entries; a row of the ledger, written at each commit.
 *
 * <pre>
 * version (1) | open (1) | stream time (8) | marker (UTF) | layout (UTF)
 * | offsets: count (4), each topic (UTF), partition (4), offset (8)
 * | position: count (4), each topic (UTF), partition (4), offset (8)
 * </pre>
 *
 * @param open whether writes of an unfinished transaction may be among the entries
 * @param streamTime the largest time of a record, in milliseconds, or -1
 * @param marker the path of the file that says that the state store is there
 * @param layout what the entries' keys and values are, or empty if it was not noted
 * @param offsets how far the entries hold the changelog
 * @param position how far the entries hold the input
 */
record LedgerRow(
    boolean open,
    long streamTime,
    String marker,
    String layout,
    Map<TopicPartition, Long> offsets,
    Position position) {
  private static final byte VERSION = 2;

  /** It has no layout. */
  private static final byte FIRST_VERSION = 1;

  static LedgerRow empty(String marker, String layout) {
    return new LedgerRow(false, -1, marker, layout, Map.of(), Position.emptyPosition());
  }

  /** Whether its entries can be read as those of a layout. */
  boolean hasLayout(String wanted) {
    return layout.isEmpty() || layout.equals(wanted);
  }

  /** Whether it is of the state store of a marker, wherever its task's directory lies now. */
  boolean isOf(Path at) {
    return marker.endsWith(at.getFileSystem().getSeparator() + at.getFileName());
  }

  LedgerRow withOpen(boolean isOpen) {
    return new LedgerRow(isOpen, streamTime, marker, layout, offsets, position);
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeBoolean(open);
      out.writeLong(streamTime);
      out.writeUTF(marker);
      out.writeUTF(layout);
      write(out, offsets);
      Map<TopicPartition, Long> positions = new HashMap<>();
      for (String topic : position.getTopics()) {
        position
            .getPartitionPositions(topic)
            .forEach((number, offset) -> positions.put(new TopicPartition(topic, number), offset));
      }
      write(out, positions);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  static LedgerRow decode(byte[] row) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(row))) {
      byte version = in.readByte();
      if (version != VERSION && version != FIRST_VERSION) {
        throw new ProcessorStateException(
            "a row of the ledger has version "
                + version
                + ", written by a newer release; this one knows "
                + VERSION);
      }
      boolean open = in.readBoolean();
      long streamTime = in.readLong();
      String marker = in.readUTF();
      String layout = version == FIRST_VERSION ? "" : in.readUTF();
      Map<TopicPartition, Long> offsets = read(in);
      Position position = Position.emptyPosition();
      read(in).forEach((of, offset) -> position.withComponent(of.topic(), of.partition(), offset));
      return new LedgerRow(open, streamTime, marker, layout, offsets, position);
    } catch (IOException e) {
      throw new ProcessorStateException("a row of the ledger ends too early", e);
    }
  }

  private static void write(DataOutputStream out, Map<TopicPartition, Long> offsets)
      throws IOException {
    out.writeInt(offsets.size());
    for (Map.Entry<TopicPartition, Long> offset : offsets.entrySet()) {
      out.writeUTF(offset.getKey().topic());
      out.writeInt(offset.getKey().partition());
      out.writeLong(offset.getValue());
    }
  }

  private static Map<TopicPartition, Long> read(DataInputStream in) throws IOException {
    Map<TopicPartition, Long> offsets = new HashMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      TopicPartition partition = new TopicPartition(in.readUTF(), in.readInt());
      offsets.put(partition, in.readLong());
    }
    return offsets;
  }
}
