package io.isobardb.lsm.sstable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.DeflateCodec;
import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.entry.Lsn;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.cache.Access;
import io.isobardb.memory.page.Memory;
import io.isobardb.repair.format.SSTableCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class SSTableModelTest {
  private static final long SEED = 20261120;
  private static final int ROUNDS = Integer.getInteger("isobar.sstable.rounds", 10);

  @Test
  void aMemorySSTableAnswersLikeTheModel() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      check(round, false, Packer.NONE);
    }
  }

  @Test
  void aDiskSSTableAnswersLikeTheModel() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      check(100 + round, true, Packer.NONE);
    }
  }

  @Test
  void aCompressedSSTableAnswersLikeTheModel() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      check(200 + round, true, Packer.of(Codecs.LZ4));
    }
  }

  @Test
  void anSSTableOfAnotherCodecAnswersLikeTheModel() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      check(300 + round, true, Packer.of(DeflateCodec.NAME));
      check(400 + round, true, Run.withDictionary(1 + 1000 * round));
    }
    assertEquals(0, Codecs.dictionaries());
  }

  /** Values of all lengths from half a page on, with small ones between them. */
  private static void addLongValues(Run run, SplittableRandom random) {
    int perPage = PageLayout.overflowBytes(run.pool.pageSize());
    for (int i = random.nextInt(1, 200); i >= 0; i--) {
      int length =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(100);
            case 1 -> perPage * random.nextInt(1, 4) + random.nextInt(-20, 20);
            default -> random.nextInt(perPage / 2, 4 * perPage);
          };
      run.add(Run.bytes(random, 8), 8, Kind.PUT, Run.bytes(random, length));
    }
    run.sort();
  }

  @Test
  void anSSTableOfLongValuesAnswersLikeTheModel() throws IOException {
    Packer[] packers = {Packer.NONE, Packer.of(Codecs.LZ4), null};
    for (int round = 0; round < 3 * ROUNDS; round++) {
      SplittableRandom random = new SplittableRandom(SEED + 500 + round);
      Packer packer = packers[round % packers.length];
      int pageSize = 4096 << (round % 4);
      String what = "seed " + SEED + " long values, round " + round + " page " + pageSize;
      try (Run run = new Run(pageSize, KeyOrder.BYTES, random.nextInt(8, 60))) {
        addLongValues(run, random);
        SSTable table = packer == null ? run.inMemory() : run.onDisk(5, packer, round % 2 == 0);
        checkAll(run, table, random, what);
        assertEquals(java.util.List.of(), SSTableCheck.check(table), what);
        table.release();
      }
    }
  }

  /** Throws once, after so many comparisons. */
  private static final class ThrowingOrder implements KeyOrder {
    private int comparisons = Integer.MAX_VALUE;

    @Override
    public String name() {
      return "throwing";
    }

    @Override
    public int compare(byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
      if (comparisons-- == 0) {
        throw new ArithmeticException("planned");
      }
      return Run.REVERSE.compare(a, aOffset, aLength, b, bOffset, bLength);
    }
  }

  @Test
  void smallFilesAgreeWithTheModel() throws IOException {
    int inHeader = 0;
    int rounds = 30;
    for (int round = 0; round < rounds; round++) {
      SplittableRandom random = new SplittableRandom(SEED + 300 + round);
      KeyOrder order = round % 4 == 3 ? Run.REVERSE : KeyOrder.BYTES;
      String what = "seed " + SEED + " small round " + round;
      try (Run run = new Run(4096 << round % 3, order, random.nextInt(8, 60))) {
        run.randomEntries(random, random.nextInt(1, 400), 2000);
        SSTable table = run.onDisk(5, Packer.NONE, round % 2 == 0, false);
        inHeader += table.meta().footerInHeader() ? 1 : 0;
        checkAll(run, table, random, what);
        assertEquals(java.util.List.of(), SSTableCheck.check(table), what);
        table.release();
      }
    }
    assertEquals(rounds, inHeader);
  }

  @Test
  void aLookupWhoseKeyOrderThrowsLeavesNoPagePinned() throws IOException {
    ThrowingOrder order = new ThrowingOrder();
    // Closing the run finds pages that are pinned.
    try (Run run = new Run(4096, order, 40)) {
      run.randomEntries(new SplittableRandom(SEED), 1000, 9000);
      SSTable table = run.onDisk(5, Packer.NONE, false);
      byte[] key = run.entries.get(run.entries.size() / 2).key();
      long hash = KeyHash.hash(key, 0, key.length);
      long location = SSTable.ABSENT;
      int failures = 0;
      while (location == SSTable.ABSENT) {
        order.comparisons = failures;
        try {
          location = table.locatePinned(key, hash, Lsn.MAX, true);
          assertTrue(location != SSTable.ABSENT);
        } catch (ArithmeticException e) {
          failures++;
        }
      }
      assertTrue(failures > 5, "comparisons " + failures);
      table.unpin(SSTable.pageOf(location));
      table.release();
    }
  }

  private static void check(int round, boolean onDisk, Packer packer) throws IOException {
    SplittableRandom random = new SplittableRandom(SEED + round);
    KeyOrder order = round % 4 == 3 ? Run.REVERSE : KeyOrder.BYTES;
    int pageSize = 4096 << (round % 5);
    String what = "seed " + SEED + " round " + round + " page " + pageSize;
    try (Run run = new Run(pageSize, order, random.nextInt(8, 60))) {
      run.randomEntries(random, random.nextInt(1, 1500), 3 * 65536);
      SSTable table = onDisk ? run.onDisk(5, packer, round % 2 == 0) : run.inMemory();
      checkAll(run, table, random, what);
      assertEquals(java.util.List.of(), SSTableCheck.check(table), what);
      table.release();
    }
  }

  private static void checkAll(Run run, SSTable table, SplittableRandom random, String what) {
    checkMeta(run, table, what);
    checkLookups(run, table, random, what);
    for (Access mode : Access.values()) {
      try (SSTableCursor cursor = table.cursor(mode)) {
        checkScans(run, cursor, what);
        checkSeeks(run, cursor, random, what);
        checkTurns(run, cursor, random, what);
      }
    }
  }

  private static void checkMeta(Run run, SSTable table, String what) {
    SSTableMeta meta = table.meta();
    assertEquals(run.entries.size(), meta.entries(), what);
    assertEquals(
        run.entries.stream().filter(e -> e.kind() == Kind.DELETE).count(), meta.deletes(), what);
    assertArrayEquals(run.entries.get(0).key(), meta.minKey(), what);
    assertArrayEquals(run.entries.get(run.entries.size() - 1).key(), meta.maxKey(), what);
    assertEquals(
        run.entries.stream().mapToLong(Run.Entry::lsn).min().getAsLong(), meta.minLsn(), what);
    assertEquals(
        run.entries.stream().mapToLong(Run.Entry::lsn).max().getAsLong(), meta.maxLsn(), what);
  }

  private static void checkLookups(Run run, SSTable table, SplittableRandom random, String what) {
    for (Run.Entry entry : run.entries) {
      for (long lsn :
          new long[] {entry.lsn(), entry.lsn() + 7, entry.lsn() - 1, Lsn.MAX, entry.lsn() + 4000}) {
        if (lsn >= 0 && (lsn == entry.lsn() || random.nextInt(4) == 0)) {
          checkLookup(run, table, entry.key(), lsn, what);
        }
      }
      byte[] near = Arrays.copyOf(entry.key(), Math.max(0, entry.key().length - 1));
      checkLookup(run, table, near, Lsn.MAX, what);
      byte[] other = entry.key().clone();
      if (other.length > 0) {
        other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(8));
        checkLookup(run, table, other, Lsn.MAX, what);
      }
    }
  }

  private static void checkLookup(Run run, SSTable table, byte[] key, long lsn, String what) {
    Run.Entry expected = run.newest(key, lsn);
    long hash = KeyHash.hash(key, 0, key.length);
    long location;
    int epoch = run.pool.epochs().enter();
    while (true) {
      location = table.mayContain(hash, true);
      if (location == SSTable.MAYBE) {
        location = table.search(key, hash, lsn, true);
      }
      if (!SSTable.isMiss(location)) {
        break;
      }
      assertTrue(table.tryRetain());
      run.pool.epochs().exit(epoch);
      int missed = SSTable.missedPage(location);
      table.loadPage(missed, Access.QUERY);
      epoch = run.pool.epochs().enter();
      table.unpin(missed);
      table.release();
    }
    if (expected == null) {
      assertEquals(SSTable.ABSENT, location, what);
    } else {
      assertTrue(location >= 0, () -> what + " key " + Arrays.toString(key) + " lsn " + lsn);
      Memory memory = run.pool.memory(SSTable.pageOf(location));
      int base = run.pool.base(SSTable.pageOf(location));
      int entry = SSTable.entryOf(location);
      assertEquals(expected.lsn(), PageReader.lsn(memory, base, entry), what);
      int kind = PageReader.kind(memory, base, entry);
      if (kind == Kind.PUT_OVERFLOW) {
        assertEquals(expected.value().length, PageReader.overflowLength(memory, base, entry));
      } else {
        assertEquals(expected.kind(), kind, what);
        byte[] value = new byte[PageReader.valueLength(memory, base, entry)];
        memory.get(base + PageReader.valueOffset(memory, base, entry), value, 0, value.length);
        assertArrayEquals(expected.value(), value, what);
      }
    }
    run.pool.epochs().exit(epoch);
  }

  private static void checkScans(Run run, SSTableCursor cursor, String what) {
    assertTrue(cursor.first());
    for (int i = 0; i < run.entries.size(); i++) {
      checkEntry(run.entries.get(i), cursor, what + " entry " + i);
      assertEquals(i + 1 < run.entries.size(), cursor.next(), what);
    }
    assertTrue(cursor.last());
    for (int i = run.entries.size() - 1; i >= 0; i--) {
      checkEntry(run.entries.get(i), cursor, what + " entry " + i);
      assertEquals(i > 0, cursor.previous(), what);
    }
  }

  /** To and fro: what was noted on the way there does not count on the way back. */
  private static void checkTurns(
      Run run, SSTableCursor cursor, SplittableRandom random, String what) {
    assertTrue(cursor.first());
    int at = 0;
    for (int i = 0; i < 60; i++) {
      boolean forward = random.nextBoolean();
      for (int step = random.nextInt(120); step > 0; step--) {
        int next = forward ? at + 1 : at - 1;
        if (next < 0 || next >= run.entries.size()) {
          break;
        }
        at = next;
        assertTrue(forward ? cursor.next() : cursor.previous(), what);
      }
      checkEntry(run.entries.get(at), cursor, what + " entry " + at);
    }
  }

  private static void checkSeeks(
      Run run, SSTableCursor cursor, SplittableRandom random, String what) {
    for (int i = 0; i < 300; i++) {
      Run.Entry near = run.entries.get(random.nextInt(run.entries.size()));
      byte[] key = near.key().clone();
      if (key.length > 0 && random.nextBoolean()) {
        key[random.nextInt(key.length)] += (byte) random.nextInt(-2, 3);
      }
      long lsn = random.nextBoolean() ? near.lsn() : random.nextInt(3) == 0 ? Lsn.MAX : 1 << 12;
      int expected = run.lowerBound(key, lsn);
      assertEquals(expected < run.entries.size(), cursor.seek(key, 0, key.length, lsn), what);
      if (cursor.valid()) {
        checkEntry(run.entries.get(expected), cursor, what);
      }
      int before = run.lowerBound(key, Lsn.MAX) - 1;
      assertEquals(before >= 0, cursor.seekBefore(key, 0, key.length), what);
      if (cursor.valid()) {
        checkEntry(run.entries.get(before), cursor, what);
        assertEquals(before + 1 < run.entries.size(), cursor.next(), what);
      }
    }
  }

  private static void checkEntry(Run.Entry expected, SSTableCursor cursor, String what) {
    assertArrayEquals(expected.key(), Arrays.copyOf(cursor.key(), cursor.keyLength()), what);
    assertEquals(expected.lsn(), cursor.lsn(), what);
    assertEquals(expected.value().length, cursor.valueLength(), what);
    assertEquals(expected.kind() == Kind.DELETE, cursor.kind() == Kind.DELETE, what);
    int length = expected.value().length;
    Memory copy = new Memory(ByteBuffer.allocateDirect(length + 1));
    int from = length / 3;
    cursor.copyValue(0, copy, 1, from);
    cursor.copyValue(from, copy, 1 + from, length - from);
    byte[] value = new byte[length];
    copy.get(1, value, 0, length);
    assertArrayEquals(expected.value(), value, what);
    ByteBuffer buffer = ByteBuffer.allocate(length - from + 2);
    cursor.copyValue(from, buffer, 2, length - from);
    assertArrayEquals(
        Arrays.copyOfRange(expected.value(), from, length),
        Arrays.copyOfRange(buffer.array(), 2, buffer.array().length),
        what);
  }
}
