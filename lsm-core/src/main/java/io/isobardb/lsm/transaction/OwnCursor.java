package io.isobardb.lsm.transaction;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.LeafCursor;
import io.isobardb.lsm.entry.Stretch;
import io.isobardb.lsm.expiry.Expiry;
import io.isobardb.lsm.operand.Operands;
import io.isobardb.memory.page.Memory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;
import org.jspecify.annotations.Nullable;

/** The cursor of {@link OwnWrites}: looks its key up at each step, since writes may go on. */
final class OwnCursor extends LeafCursor {
  private static final byte[] NO_VALUE = new byte[0];

  private final NavigableMap<byte[], OwnWrites.Write> writes;
  private final long lsn;
  private final long now;
  private boolean valid;
  private byte[] value = NO_VALUE;
  private long expiry = Expiry.NEVER;

  OwnCursor(NavigableMap<byte[], OwnWrites.Write> writes, long lsn, long now) {
    this.writes = writes;
    this.lsn = lsn;
    this.now = now;
  }

  @Override
  protected long storedExpiry() {
    return expiry;
  }

  private boolean stand(Map.@Nullable Entry<byte[], OwnWrites.Write> at) {
    valid = at != null;
    if (at != null) {
      key = at.getKey();
      OwnWrites.Write write = at.getValue();
      value = write.kind() == Kind.MERGE ? Operands.readAt(write.value(), now) : write.value();
      expiry = write.expiry();
      entry(key.length, lsn, Kind.stored(write.kind(), expiry));
    }
    return valid;
  }

  @Override
  public boolean valid() {
    return valid;
  }

  /** What it says is asked for at each step, and lies in no page. */
  @Override
  public boolean isPlain(Stretch stretch) {
    return false;
  }

  @Override
  public boolean first() {
    synchronized (writes) {
      return stand(writes.firstEntry());
    }
  }

  @Override
  public boolean last() {
    synchronized (writes) {
      return stand(writes.lastEntry());
    }
  }

  @Override
  public boolean seek(byte[] sought, int offset, int length, long atLsn) {
    byte[] from = Arrays.copyOfRange(sought, offset, offset + length);
    synchronized (writes) {
      return stand(lsn <= atLsn ? writes.ceilingEntry(from) : writes.higherEntry(from));
    }
  }

  @Override
  public boolean seekBefore(byte[] sought, int offset, int length) {
    synchronized (writes) {
      return stand(writes.lowerEntry(Arrays.copyOfRange(sought, offset, offset + length)));
    }
  }

  @Override
  public boolean next() {
    synchronized (writes) {
      return stand(writes.higherEntry(key));
    }
  }

  @Override
  public boolean previous() {
    synchronized (writes) {
      return stand(writes.lowerEntry(key));
    }
  }

  @Override
  public int valueLength() {
    return value.length;
  }

  @Override
  public Memory valueMemory() {
    throw new IllegalStateException("what is not committed lies on the heap");
  }

  @Override
  public int valueOffset() {
    throw new IllegalStateException("what is not committed lies on the heap");
  }

  @Override
  public void copyValue(int from, Memory target, int targetOffset, int length) {
    target.put(targetOffset, value, from, length);
  }

  @Override
  public void copyValue(int from, ByteBuffer target, int targetOffset, int length) {
    target.put(targetOffset, value, from, length);
  }

  @Override
  public void copyValue(int from, byte[] target, int targetOffset, int length) {
    System.arraycopy(value, from, target, targetOffset, length);
  }

  @Override
  public void close() {
    valid = false;
  }
}
