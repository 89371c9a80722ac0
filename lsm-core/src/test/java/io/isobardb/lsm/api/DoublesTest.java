package io.isobardb.lsm.api;

import static io.isobardb.lsm.SimulatedStores.bytes;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.CursorOptions;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Snapshot;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Transaction;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** An application's own objects behind the interfaces of the API. */
@Tag("any-jdk")
class DoublesTest {
  private static <T> T made(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** A tree that has each key for its value. */
  private static final Tree MIRROR =
      made(
          Tree.class,
          (self, method, arguments) ->
              switch (method.getName()) {
                case "get" -> arguments[0];
                case "name" -> "mirror";
                default -> throw new UnsupportedOperationException(method.toString());
              });

  private static final Store STORE =
      made(
          Store.class,
          (self, method, arguments) -> {
            if (method.isDefault()) {
              throw new UnsupportedOperationException(method.toString());
            }
            return MIRROR;
          });

  @Test
  void anApplicationUsesThemAsItUsesTheStore() {
    assertArrayEquals(bytes("k"), STORE.tree("any").get(bytes("k")));
  }

  @Test
  void aStoreRefusesWhatItHasNotGiven(@TempDir Path directory) {
    StoreOptions options = StoreOptions.builder().memoryBudget(8 << 20).build();
    Snapshot snapshot = made(Snapshot.class, (self, method, arguments) -> null);
    WriteBatch batch = made(WriteBatch.class, (self, method, arguments) -> null);
    try (Store store = Store.open(directory.resolve("store"), options);
        Backups backups = Backups.open(directory.resolve("backups"));
        Transaction transaction = store.begin()) {
      Tree tree = store.openTree("tree");
      List<Executable> calls =
          List.of(
              () -> store.write(batch, Durability.ASYNC),
              () -> store.newBatch().put(MIRROR, bytes("k"), bytes("v")),
              () -> store.bulkLoad(MIRROR),
              () -> transaction.get(MIRROR, bytes("k")),
              () -> tree.get(bytes("k"), snapshot),
              () -> tree.cursor(CursorOptions.all().snapshot(snapshot)),
              () -> backups.create(STORE));
      for (Executable call : calls) {
        String message = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(message.matches(".*(another store|Store.open).*"), message);
      }
      assertEquals(List.of("tree"), store.treeNames());
      assertEquals(0, store.stats().readers().snapshots() + store.stats().readers().cursors());
    }
  }
}
