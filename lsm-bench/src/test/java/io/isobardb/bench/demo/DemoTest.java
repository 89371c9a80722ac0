package io.isobardb.bench.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.Isobar;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class DemoTest {
  @TempDir Path temp;

  @Test
  void allScenesAreShownAndNoAcknowledgedWriteIsMissing() {
    StringWriter out = new StringWriter();
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    assertEquals(0, commandLine.execute("demo", "--pace", "0.1"), out::toString);
    String text = out.toString();
    for (String scene : new String[] {"1. 500 trees", "2. The wall", "3. kill -9", "Go on with"}) {
      assertTrue(text.contains("\n" + scene) || text.startsWith(scene), text);
    }
    assertTrue(text.contains("all are there"), text);
    String wall = text.substring(text.indexOf("at first") + 11, text.indexOf("\n   in the end"));
    assertEquals(text.contains("in the end " + wall), text.contains("It stayed"), text);
    assertFalse(text.contains("WRONG"), text);
    assertTrue(text.lines().allMatch(line -> line.length() <= 110), text);
  }

  @Test
  void theBarIsAsWideWhereverTheWallStands() {
    String all = MemoryBar.draw(48 << 20, 48 << 20);
    assertTrue(all.contains("[" + "#".repeat(40) + "|]"), all);
    String none = MemoryBar.draw(0, 48 << 20);
    assertTrue(none.contains("[|" + ".".repeat(40) + "]"), none);
    String third = MemoryBar.draw(12 << 20, 48 << 20);
    assertEquals(
        "writes    12 MB [" + "#".repeat(10) + "|" + ".".repeat(30) + "]    36 MB cache", third);
    assertEquals(all.length(), third.length());
    assertEquals(all.length(), none.length());
  }

  @Test
  void aWriteThatIsMissingIsCounted() {
    Path directory = temp.resolve("store");
    try (Store store = Store.open(directory, DemoVictim.options())) {
      Tree records = store.openTree(DemoVictim.TREE);
      for (long n = 0; n < 100; n++) {
        if (n != 17) {
          records.put(DemoVictim.key(n), DemoVictim.key(n == 42 ? n : ~n));
        }
      }
    }
    KillScene.Outcome outcome = KillScene.look(directory, 90);
    assertEquals(90, outcome.acknowledged());
    assertEquals(2, outcome.missing(), "one is not there, and one has a wrong value");
    assertEquals(10, outcome.more());
  }
}
