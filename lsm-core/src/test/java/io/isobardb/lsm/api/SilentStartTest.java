package io.isobardb.lsm.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program with lsm-core alone: what it prints that it did not ask for. */
class SilentStartTest {
  @TempDir Path dir;

  /** Opens a store, writes and reads; with an argument more, it leaves a cursor open. */
  static final class Program {
    public static void main(String[] args) {
      StoreOptions options = StoreOptions.builder().memoryBudget(16 << 20).build();
      Cursor left = null;
      try (Store store = Store.open(Path.of(args[0]), options)) {
        Tree tree = store.openTree("t");
        tree.put(new byte[] {1}, new byte[] {2});
        store.flush();
        if (args.length > 1) {
          left = tree.cursor();
        }
        System.out.println(tree.get(new byte[] {1})[0]);
      }
      if (left != null) {
        left.close();
      }
    }
  }

  private String run(String... more) throws Exception {
    List<String> args = new ArrayList<>(List.of(dir.resolve("store").toString()));
    args.addAll(List.of(more));
    UserProgram.Printed printed =
        new UserProgram(dir).run(List.of(), Program.class, args.toArray(String[]::new));
    assertEquals("2", printed.out().strip());
    return printed.err();
  }

  @Test
  void nothingIsPrinted() throws Exception {
    assertEquals("", run());
  }

  /** What a user must know reaches the user without a logging library. */
  @Test
  void warningsArePrintedWithoutALoggingLibrary() throws Exception {
    String printed = run("leak");
    assertTrue(printed.contains("WARNING"), printed);
    assertTrue(printed.contains("1 cursor"), printed);
    assertTrue(printed.contains(dir.resolve("store").toString()), printed);
  }
}
