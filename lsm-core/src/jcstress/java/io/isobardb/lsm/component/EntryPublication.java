package io.isobardb.lsm.component;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Probe;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.sstable.KeyHash;
import io.isobardb.memory.pool.PagePool;
import java.nio.ByteBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A reader sees an entry of the active SSTable whole or not at all, and what was there before. */
@JCStressTest
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "not there yet")
@Outcome(id = "2, 1", expect = Expect.ACCEPTABLE, desc = "all of it is there")
@Outcome(expect = Expect.FORBIDDEN, desc = "a part is there, or another entry is gone")
@State
public class EntryPublication {
  private static final PagePool POOL = new PagePool(256 << 20, 4096, true);
  private static final byte[] OLD = {'a'};
  private static final byte[] NEW = {'b'};

  private static final Visibility ALL =
      new Visibility() {
        @Override
        public long visible() {
          return -1;
        }

        @Override
        public long newestSnapshot() {
          return -1;
        }
      };

  private final ActiveTree tree = new ActiveTree(POOL, KeyOrder.BYTES, 1 << 20);

  public EntryPublication() {
    put(OLD, 1, 8);
  }

  private void put(byte[] key, int value, long lsn) {
    byte[] bytes = new byte[40];
    for (int i = 0; i < bytes.length; i += 4) {
      ByteBuffer.wrap(bytes).putInt(i, value);
    }
    long hash = KeyHash.hash(key, 0, 1);
    tree.put(
        new Write().of(Kind.PUT, key, 0, 1).value(bytes, 0, bytes.length).at(lsn).hashed(), ALL);
  }

  private int get(byte[] key) {
    int epoch = POOL.epochs().enter();
    try {
      ByteBuffer value = ByteBuffer.allocate(40);
      Probe probe = new Probe(0).of(KeyHash.hash(key, 0, 1)).into(value);
      int length = tree.find(key, probe.at(Long.MAX_VALUE - 1, () -> 0));
      if (length == Probe.ABSENT) {
        return 0;
      }
      int first = value.getInt(0);
      for (int i = 0; i < length; i += 4) {
        if (value.getInt(i) != first) {
          return -1;
        }
      }
      return first;
    } finally {
      POOL.epochs().exit(epoch);
    }
  }

  @Actor
  public void writer() {
    put(NEW, 2, 16);
  }

  @Actor
  public void reader(II_Result result) {
    result.r1 = get(NEW);
    result.r2 = get(OLD);
  }

  @Arbiter
  public void end() {
    tree.free();
  }
}
