package io.isobardb.lsm.component;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** It answers as a set of numbers does. */
@Tag("any-jdk")
class PageSetTest {
  @ParameterizedTest
  @ValueSource(ints = {20, 2000, 1 << 20, Integer.MAX_VALUE})
  void itHoldsWhatWasAdded(int pages) {
    Random random = new Random(pages);
    PageSet set = new PageSet();
    Set<Integer> model = new HashSet<>();
    for (int i = 0; i < 5000; i++) {
      int page = random.nextInt(pages);
      assertEquals(model.contains(page), set.contains(page), "page " + page);
      if (i % 3 != 0) {
        set.add(page);
        model.add(page);
      }
    }
    for (int page : model) {
      assertTrue(set.contains(page), "page " + page);
    }
  }
}
