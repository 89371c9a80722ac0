package io.isobardb.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ValueFormTest {
  @ParameterizedTest
  @CsvSource({
    "AUTO,plain,706c61696e",
    "AUTO,0x0001,0001",
    "TEXT,0x0001,307830303031",
    "TEXT,grün,6772c3bc6e",
    "HEX,0xfe01,fe01",
    "LONG,-2,fffffffffffffffe",
    "LONG,9223372036854775807,7fffffffffffffff",
    "INT,258,00000102",
    "JSON,'{\"a\":[1,null]}',7b2261223a5b312c6e756c6c5d7d",
  })
  void whatIsShownCanBeGiven(ValueForm form, String text, String hex) {
    byte[] value = ValueForm.HEX.parse(hex);
    assertArrayEquals(value, form.parse(text));
    assertEquals(text, form.format(value));
  }

  @ParameterizedTest
  @CsvSource({
    "HEX,0x1",
    "HEX,no",
    "LONG,1.5",
    "LONG,9223372036854775808",
    "INT,2147483648",
    "JSON,''",
    "JSON,{\"a\":}",
    "JSON,1 2",
    "JSON,[1",
  })
  void whatIsNotOfAFormIsNotTaken(ValueForm form, String text) {
    Exception e = assertThrows(UsageException.class, () -> form.parse(text));
    assertTrue(e.getMessage().contains(text), e.getMessage());
    assertEquals(1, e.getMessage().lines().count(), e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"TEXT,fe", "LONG,0001", "INT,0102030405", "JSON,7b", "JSON,fe"})
  void whatHasAnotherFormIsNotShownAsThis(ValueForm form, String hex) {
    byte[] value = ValueForm.HEX.parse(hex);
    Exception e = assertThrows(UsageException.class, () -> form.format(value));
    assertTrue(e.getMessage().endsWith("; --as auto shows any value"), e.getMessage());
  }

  @ParameterizedTest
  @EnumSource(names = {"TEXT", "JSON"})
  void aColumnHasNeitherTabsNorEndsOfLines(ValueForm form) {
    String text = "[\t1,\r\n\"\\\\n\"]";
    String column = form.toColumn(form.format(text.getBytes(UTF_8)));
    assertEquals(1, column.lines().count(), column);
    assertEquals(-1, column.indexOf('\t'));
    String again = form.format(form.parse(form.ofColumn(column)));
    assertEquals(form == ValueForm.TEXT ? text : "[ 1,  \"\\\\n\"]", again);
  }

  @Test
  void aBackslashInAColumnOfTextStandsForOneOfFour() {
    for (String column : List.of("a\\", "\\x", "\\\\\\")) {
      assertThrows(UsageException.class, () -> ValueForm.TEXT.ofColumn(column), column);
    }
  }

  @Test
  void withinJsonAValueIsWhatItIs() throws IOException {
    assertEquals(7L, ValueForm.LONG.toJson(ValueForm.LONG.parse("7")));
    assertEquals("0x07", ValueForm.AUTO.toJson(new byte[] {7}));
    assertEquals(
        Map.of("price", new BigDecimal("1.10")),
        ValueForm.JSON.toJson("{\"price\":1.10}".getBytes(UTF_8)));
  }
}
