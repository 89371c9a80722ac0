package io.isobardb.lsm.damage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.simulation.SimulatedWorld;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A store whose files are changed anyhow is refused, or answers as before.
 *
 * <p>An input is a list of changes of five bytes: which file, where in it (3), the byte there.
 */
class StoreFuzzTest {
  private static final class Holder {
    private static final DamagedStore STORE = make();

    private static DamagedStore make() {
      try {
        return new DamagedStore(1);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  @FuzzTest(maxDuration = "10m")
  void open(byte[] changes) throws IOException {
    Watched.input("open", changes, () -> openOf(changes));
  }

  private void openOf(byte[] changes) throws IOException {
    DamagedStore store = Holder.STORE;
    List<String> names = new ArrayList<>(store.files().keySet());
    Damage damage =
        new Damage(
            "",
            "bytes changed",
            files -> {
              for (int at = 0; at + 4 < changes.length; at += 5) {
                String name = names.get((changes[at] & 0xFF) % names.size());
                byte[] content = files.get(name).clone();
                int place =
                    (changes[at + 1] & 0xFF) << 16
                        | (changes[at + 2] & 0xFF) << 8
                        | changes[at + 3] & 0xFF;
                content[place % content.length] = changes[at + 4];
                files.put(name, content);
              }
            });
    try (Store opened = new SimulatedWorld(store.disk(damage), 1).open(DamagedStore.OPTIONS)) {
      assertEquals(List.copyOf(store.trees()), opened.treeNames());
      for (String name : store.trees()) {
        Tree tree = opened.tree(name);
        for (var entry : store.model(name).entrySet()) {
          assertArrayEquals(entry.getValue(), tree.get(entry.getKey()));
        }
      }
    } catch (IsobarException e) {
      // Told of.
    }
  }
}
