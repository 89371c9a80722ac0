package io.isobardb.lsm.merge;

import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;

/** A cursor that is told where it stands, on entries without values: it does not move. */
final class ShownEntry extends LeafCursor {
  /** Has it stand on an entry. */
  ShownEntry show(byte[] shown, long lsn, int kind) {
    key = shown;
    entry(shown.length, lsn, kind);
    return this;
  }

  private static UnsupportedOperationException refusal() {
    return new UnsupportedOperationException("an entry without a value, nor others around it");
  }

  @Override
  protected long storedExpiry() {
    return Expiry.NEVER;
  }

  @Override
  public int valueLength() {
    return 0;
  }

  @Override
  public Memory valueMemory() {
    throw refusal();
  }

  @Override
  public int valueOffset() {
    throw refusal();
  }

  @Override
  public void copyValue(int from, Memory target, int targetOffset, int length) {
    throw refusal();
  }

  @Override
  public void copyValue(int from, ByteBuffer target, int targetOffset, int length) {
    throw refusal();
  }

  @Override
  public void copyValue(int from, byte[] target, int targetOffset, int length) {
    throw refusal();
  }

  @Override
  public boolean valid() {
    return true;
  }

  @Override
  public boolean first() {
    throw refusal();
  }

  @Override
  public boolean last() {
    throw refusal();
  }

  @Override
  public boolean seek(byte[] sought, int offset, int length, long lsn) {
    throw refusal();
  }

  @Override
  public boolean seekBefore(byte[] sought, int offset, int length) {
    throw refusal();
  }

  @Override
  public boolean next() {
    throw refusal();
  }

  @Override
  public boolean previous() {
    throw refusal();
  }

  @Override
  public void close() {}
}
