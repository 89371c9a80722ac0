package io.isobardb.cli.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class NumbersTest {
  private static String refusal(Executable call) {
    return assertThrows(IllegalArgumentException.class, call).getMessage();
  }

  @Test
  void whatIsNoNumberIsSaidToBeNone() {
    assertEquals(-12, Numbers.parseInt(" -12 "));
    assertEquals(1L << 40, Numbers.parseLong("1099511627776"));
    assertEquals(0.5, Numbers.parseDouble("0.5"));
    for (String text : new String[] {"", "-", "1.5", "1e6", "many"}) {
      assertEquals("'" + text + "' is not a whole number", refusal(() -> Numbers.parseInt(text)));
    }
    assertEquals("'3000000000' is too large", refusal(() -> Numbers.parseInt("3000000000")));
    String digits = "9".repeat(30);
    assertEquals("'" + digits + "' is too large", refusal(() -> Numbers.parseLong(digits)));
    for (String text : new String[] {"", "NaN", "Infinity", "x"}) {
      assertEquals("'" + text + "' is not a number", refusal(() -> Numbers.parseDouble(text)));
    }
  }

  @Test
  void boundsNameOptionRangeAndValue() {
    Numbers.check("--threads", 1024, 1, 1024);
    assertEquals(
        "--threads must be 1 to 1,024, not 0",
        refusal(() -> Numbers.check("--threads", 0, 1, 1024)));
    assertEquals(
        "--records must be 1 or more, not -1",
        refusal(() -> Numbers.checkAtLeast("--records", -1, 1)));
    assertEquals(
        "--memory must be 1 MB or more, not 1 B",
        refusal(() -> Numbers.checkAtLeast("--memory", new ByteSize(1), 1 << 20)));
    assertEquals(
        "--duration must be longer than 0",
        refusal(() -> Numbers.checkAboveZero("--duration", new TimeSpan(0))));
  }

  @Test
  void oneIsSingular() {
    assertEquals("1 tree", Numbers.count(1, "tree"));
    assertEquals("0 trees", Numbers.count(0, "tree"));
    assertEquals("1,234 trees", Numbers.count(1234, "tree"));
  }
}
