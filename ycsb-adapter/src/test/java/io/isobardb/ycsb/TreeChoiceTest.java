package io.isobardb.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TreeChoiceTest {
  private static final int KEYS = 100_000;

  private static double[] shares(int trees, String hot) {
    TreeChoice choice = new TreeChoice(trees, hot);
    double[] shares = new double[trees];
    for (int i = 0; i < KEYS; i++) {
      shares[choice.of(("user" + i * 31L).getBytes(StandardCharsets.UTF_8))] += 1.0 / KEYS;
    }
    return shares;
  }

  @Test
  void withoutAHotSpotAllTreesGetTheSame() {
    for (double share : shares(10, "")) {
      assertEquals(0.1, share, 0.01);
    }
  }

  @Test
  void hotTreesGetTheirShareOfTheKeys() {
    double[] shares = shares(10, "80:20");
    for (int i = 0; i < 10; i++) {
      assertEquals(i < 2 ? 0.4 : 0.025, shares[i], 0.01, "tree " + i);
    }
  }

  @Test
  void oneTreeGetsAll() {
    assertEquals(1.0, shares(1, "80:20")[0], 1e-6);
  }

  @ParameterizedTest
  @ValueSource(strings = {"80", "80:20:1", "101:5", "5:101", "a:b"})
  void whatIsNoShareIsRefused(String hot) {
    assertThrows(IllegalArgumentException.class, () -> new TreeChoice(10, hot));
  }
}
