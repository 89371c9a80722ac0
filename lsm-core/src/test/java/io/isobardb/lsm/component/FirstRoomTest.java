package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.entry.Kind;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What first entries on the heap count for, and where they give way to pages. */
class FirstRoomTest {
  private static final int PAGE = 4096;
  private static final long LIMIT = 4 << 20;

  private final PagePool pool = new PagePool(16 << 20, PAGE, true);
  private int held;
  private FirstRoom room = new FirstRoom(pool, () -> held, 0, LIMIT);
  private final List<ActiveTree> trees = new ArrayList<>();

  private ActiveTree tree() {
    ActiveTree tree = new ActiveTree(pool, KeyOrder.BYTES, 1 << 20, 1 << 20, room, () -> held++);
    trees.add(tree);
    return tree;
  }

  private static void put(ActiveTree tree, int number, int kind, int length) {
    byte[] key = {(byte) (number >>> 8), (byte) number};
    Write write = new Write().of(kind, key, 0, 2).value(new byte[length], 0, length);
    tree.put(write.at(8L * (number + 1)).hashed(), GivenVisibility.ofAll());
  }

  private void freeAll() {
    trees.forEach(ActiveTree::free);
    trees.clear();
    assertEquals(0, room.bytes());
    pool.close();
  }

  /** With few trees, pages are no waste. */
  @Test
  void aFewTreesBeginWithAPage() {
    room = new FirstRoom(pool, () -> held, 0.125, LIMIT);
    for (int i = 0; i < LIMIT / 8 / PAGE; i++) {
      ActiveTree tree = tree();
      put(tree, 0, Kind.PUT, 100);
      assertEquals(PAGE, tree.bytesUsed());
    }
    assertEquals(0, room.bytes());
    assertEquals(trees.size(), held);
    freeAll();
  }

  @Test
  void ofManyTreesEachTakesWhatItsEntriesDo() {
    room = new FirstRoom(pool, () -> held, 0.125, LIMIT);
    for (int i = 0; i < 1000; i++) {
      put(tree(), 0, Kind.PUT, 100);
    }
    long pages = pool.pages(Purpose.WRITE);
    assertTrue(pages <= LIMIT / 8 / PAGE + 1, pages + " pages");
    ActiveTree last = trees.get(trees.size() - 1);
    assertTrue(last.bytesUsed() < 200, last.bytesUsed() + " bytes");
    assertEquals(trees.size(), held);
    long counted = pool.ledger().bytes(Purpose.WRITE) - pages * PAGE;
    assertTrue(counted >= room.bytes() && counted < room.bytes() + LIMIT / 16, "in the ledger");
    freeAll();
  }

  @Test
  void halfAPageOfEntriesMovesToAPage() {
    ActiveTree tree = tree();
    int number = 0;
    for (; tree.root() == PagePool.NONE; number++) {
      long before = room.bytes();
      put(tree, number, Kind.PUT, 100);
      assertTrue(room.bytes() <= PAGE / 2);
      assertTrue(room.bytes() == 0 || room.bytes() - before < 200);
    }
    assertTrue(number > 10, number + " entries");
    assertEquals(number, tree.entries());
    assertEquals(0, room.bytes());
    assertEquals(PAGE, tree.bytesUsed());
    freeAll();
  }

  /** An operand needs a leaf, where those of its key are counted. */
  @Test
  void operandsLieInPages() {
    ActiveTree tree = tree();
    put(tree, 0, Kind.PUT, 10);
    assertEquals(PagePool.NONE, tree.root());
    put(tree, 1, Kind.MERGE, 10);
    assertFalse(tree.root() == PagePool.NONE);
    assertEquals(2, tree.entries());
    freeAll();
  }

  @Test
  void whereThereIsNoRoomATreeTakesAPage() {
    while (room.bytes() < LIMIT / 2 - 2000) {
      put(tree(), 0, Kind.PUT, 1000);
    }
    ActiveTree tree = tree();
    put(tree, 0, Kind.PUT, 1900);
    assertEquals(PAGE, tree.bytesUsed());
    freeAll();
  }
}
