package io.isobardb.lsm.version;

import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Reads the files of a manifest and writes them, through one buffer: see {@link ManifestLayout}.
 * Syncs nothing; which file is in force, and what a failure means, is the {@link Manifest}'s
 * business.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ManifestFiles implements AutoCloseable {
  private static final int BUFFER_BYTES = 64 << 10;

  private final Storage storage;
  private final PagePool pool;
  private final Block buffer;
  private final EditCodec.Output out = new EditCodec.Output();

  /**
   * @param pool lends 64 KB until {@link #close}
   */
  ManifestFiles(Storage storage, PagePool pool) {
    this.storage = storage;
    this.pool = pool;
    this.buffer = pool.blocks().allocate(BUFFER_BYTES, Purpose.METADATA);
  }

  /** Makes a record of edits, for {@link #write} to write at {@code offset}. */
  void formatEdits(ManifestLayout.Identity identity, long offset, List<VersionEdit> edits) {
    out.clear();
    int record = beginRecord();
    for (VersionEdit edit : edits) {
      EditCodec.encode(edit, out);
    }
    endRecord(record, ManifestLayout.EDITS, identity, offset);
  }

  /** Writes at {@code offset} that all before it is synced. Gives the record's length in bytes. */
  int writeSynced(DataFile target, long offset, ManifestLayout.Identity identity)
      throws IOException {
    out.clear();
    endRecord(beginRecord(), ManifestLayout.SYNCED, identity, offset);
    return write(target, offset);
  }

  /** Writes a whole file: the header, and what the store consists of. Gives its length in bytes. */
  long writeSnapshot(DataFile target, ManifestLayout.Identity fresh, StoreContents next)
      throws IOException {
    out.clear();
    out.write(ManifestLayout.header(fresh));
    long start = 0;
    int record = beginRecord();
    for (VersionEdit edit : next.snapshot()) {
      EditCodec.encode(edit, out);
      if (out.length() >= BUFFER_BYTES) {
        endRecord(record, ManifestLayout.SNAPSHOT, fresh, start + record);
        start += write(target, start);
        out.clear();
        record = beginRecord();
      }
    }
    endRecord(record, ManifestLayout.SNAPSHOT, fresh, start + record);
    record = beginRecord();
    endRecord(record, ManifestLayout.SNAPSHOT_END, fresh, start + record);
    return start + write(target, start);
  }

  /** Writes a file CURRENT with these contents. */
  void writeCurrent(DataFile target, byte[] current) throws IOException {
    out.clear();
    out.write(current);
    write(target, 0);
  }

  private int beginRecord() {
    int record = out.length();
    out.skip(ManifestLayout.RECORD_PAYLOAD);
    return record;
  }

  private void endRecord(int record, byte kind, ManifestLayout.Identity of, long fileOffset) {
    ByteBuffer bytes = ManifestLayout.buffer(out.bytes());
    int payload = out.length() - record - ManifestLayout.RECORD_PAYLOAD;
    bytes.putInt(record + ManifestLayout.RECORD_LENGTH, payload);
    bytes.put(record + ManifestLayout.RECORD_KIND, kind);
    int checksum =
        ManifestLayout.recordChecksum(
            of, fileOffset, out.bytes(), record + ManifestLayout.RECORD_LENGTH, out.length());
    bytes.putInt(record, checksum);
  }

  /** Writes what was made. Gives its length in bytes. */
  int write(DataFile target, long offset) throws IOException {
    for (int done = 0; done < out.length(); ) {
      int count = Math.min(BUFFER_BYTES, out.length() - done);
      buffer.memory().put(0, out.bytes(), done, count);
      target.write(offset + done, buffer.memory(), 0, count);
      done += count;
    }
    return out.length();
  }

  /** The contents of a file; must fit an array. */
  byte[] read(String name) throws IOException {
    try (DataFile source = storage.open(name, IoMode.BUFFERED)) {
      long size = source.size();
      if (size > Integer.MAX_VALUE - 16) {
        throw new CorruptionException(name, 0, "a size of " + size + " bytes");
      }
      byte[] bytes = new byte[(int) size];
      for (int done = 0; done < bytes.length; ) {
        int want = Math.min(BUFFER_BYTES, bytes.length - done);
        int count = source.read(done, buffer.memory(), 0, want);
        if (count < want) {
          throw new IOException(name + " ended at " + (done + count) + " of " + size + " bytes");
        }
        buffer.memory().get(0, bytes, done, count);
        done += count;
      }
      return bytes;
    }
  }

  /** Gives the buffer back. */
  @Override
  public void close() {
    pool.release(buffer);
  }
}
