package io.isobardb.lsm.merge;

import io.isobardb.lsm.merge.MemoryLeveling.Item;
import io.isobardb.lsm.merge.MemoryLeveling.Pick;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryLevelingTest {
  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(MemoryLevelingTest.class, "memory-levels.txt", MemoryLevelingTest::ask);
  }

  /**
   * Sealed runs of a size, then levels of SSTables with what they overlap: {@code 2x8 | 5/20 6/12 |
   * 100}.
   */
  private static String ask(List<String> lines) {
    StringBuilder answer = new StringBuilder();
    for (String line : lines) {
      String[] parts = line.split(" *\\| *");
      String[] sealed = parts[0].split("x");
      List<List<Item>> levels = new ArrayList<>();
      for (int i = 1; i < parts.length; i++) {
        List<Item> level = new ArrayList<>();
        for (String table : parts[i].split(" +")) {
          String[] sizes = table.split("/");
          level.add(
              new Item(Long.parseLong(sizes[0]), sizes.length == 1 ? 0 : Long.parseLong(sizes[1])));
        }
        levels.add(level);
      }
      Pick pick =
          MemoryLeveling.choose(Integer.parseInt(sealed[0]), Long.parseLong(sealed[1]), levels);
      if (pick == null) {
        answer.append("nothing");
      } else if (pick.level() == 0) {
        answer.append(pick.joins() ? "the sealed run into M1" : "the sealed run is the new M1");
      } else {
        answer.append("SSTable ").append(pick.table()).append(" of M").append(pick.level());
        answer.append(" into M").append(pick.level() + 1);
      }
      answer.append('\n');
    }
    return answer.toString();
  }
}
