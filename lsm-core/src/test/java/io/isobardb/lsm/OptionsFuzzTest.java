package io.isobardb.lsm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.schedule.Watched;
import java.util.Properties;

/** Options of a store as text that nobody would write: a line {@code name=value} each. */
class OptionsFuzzTest {
  @FuzzTest(maxDuration = "10m")
  void properties(byte[] text) {
    Watched.input("properties", text, () -> propertiesOf(text));
  }

  private void propertiesOf(byte[] text) {
    Properties properties = new Properties();
    for (String line : new String(text, UTF_8).split("\n")) {
      String[] parts = line.split("=", 2);
      if (parts.length == 2) {
        properties.setProperty("isobar." + parts[0], parts[1]);
      }
    }
    StoreOptions options;
    try {
      options = StoreOptions.fromProperties(properties, "isobar.");
    } catch (IllegalArgumentException e) {
      assertTrue(e.getMessage() != null && !e.getMessage().isEmpty());
      return;
    }
    Properties told = new Properties();
    for (String option : options.toString().split(" (?=[a-z])")) {
      String[] parts = option.split("=", 2);
      told.setProperty(parts[0], parts[1]);
    }
    assertEquals(options.toString(), StoreOptions.fromProperties(told, "").toString());
  }
}
