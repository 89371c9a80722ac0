package io.isobardb.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class YcsbOutputTest {
  private static final String GOOD =
      """
      [OVERALL], RunTime(ms), 1005
      [OVERALL], Throughput(ops/sec), 995.0248756218906
      [READ], Operations, 497
      [READ], AverageLatency(us), 12.5
      [READ], 99.9PercentileLatency(us), 120
      [READ], Return=OK, 497
      [CLEANUP], Operations, 2
      [UPDATE], Operations, 503
      [UPDATE], Return=OK, 503
      """;

  private static List<String> problems(String output, long operations, String... errors) {
    return YcsbOutput.parse(output.lines().toList()).problems(operations, List.of(errors));
  }

  @Test
  void aRunWhoseOperationsAllReturnedOkIsGood() {
    assertEquals(List.of(), problems(GOOD, 1000, "engine: direct I/O on"));
    YcsbOutput output = YcsbOutput.parse(GOOD.lines().toList());
    assertEquals(995.0248756218906, output.throughput());
    assertEquals(120, output.metrics().get("READ").get("99.9PercentileLatency(us)"));
  }

  @Test
  void missingOperationsAreAProblem() {
    assertEquals(List.of("of 1001 operations 1000 returned OK"), problems(GOOD, 1001));
    assertEquals(List.of("of 5 operations 0 returned OK"), problems("", 5));
  }

  @Test
  void whatIsNotFoundIsAProblem() {
    List<String> found =
        problems(
            """
            [READ], Return=NOT_FOUND, 1000
            [READ-FAILED], Operations, 1000
            """,
            1000);
    assertTrue(found.contains("READ: 1000 times Return=NOT_FOUND"), found.toString());
    assertTrue(found.contains("operations failed: READ-FAILED"), found.toString());
  }

  @Test
  void aFailedVerificationIsAProblemAndAGoodOneCountsNoOperation() {
    String verified = GOOD + "[VERIFY], Return=OK, 497\n";
    assertEquals(List.of(), problems(verified, 1000));
    assertEquals(
        List.of("VERIFY: 3 times Return=UNEXPECTED_STATE"),
        problems(verified + "[VERIFY], Return=UNEXPECTED_STATE, 3\n", 1000));
  }

  @Test
  void aReadModifyWriteReturnsAsARead() {
    String modified =
        """
        [READ], Return=OK, 1000
        [UPDATE], Return=OK, 400
        [READ-MODIFY-WRITE], Operations, 400
        """;
    assertEquals(List.of(), problems(modified, 1000));
    assertEquals(List.of(), problems(modified.replace("[READ-MOD", "[Intended-READ-MOD"), 1000));
  }

  @Test
  void anExceptionOnStandardErrorIsAProblem() {
    assertEquals(
        List.of("no room"),
        problems(GOOD, 1000, "java.lang.IllegalStateException: no room", "\tat somewhere"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "site.ycsb.DBException: java.lang.IllegalArgumentException: too small | too small",
        "Exception in thread \"main\" java.lang.IllegalStateException: it broke | it broke",
        "Caused by: io.isobardb.lsm.error.DiskFullException: the disk is full | the disk is full",
        "java.lang.NullPointerException | java.lang.NullPointerException",
        "Could not read: no Exception: here | Could not read: no Exception: here",
      })
  void anExceptionIsToldWithoutTheNamesOfTypes(String line, String message) {
    assertEquals(message, YcsbOutput.exception(List.of("isobar: options", line, "\tat x.y.Z")));
  }

  @Test
  void withoutAnExceptionThereIsNoneToTell() {
    assertNull(YcsbOutput.exception(List.of("engine: direct I/O on")));
  }
}
