package io.isobardb.bench.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.StringReader;
import org.junit.jupiter.api.Test;

class KillWitnessTest {
  private final KillWitness witness = new KillWitness(new long[KillWorkload.THREADS], 0, 0);

  @Test
  void wordsThatWereOvertakenByOthersWereSaid() throws InterruptedException {
    witness.read(new BufferedReader(new StringReader("open\nclosing\nclosed\n")));
    assertTrue(witness.await("closing", 0));
    assertEquals("closed", witness.said());
  }

  @Test
  void aVictimThatEndedSaysNoMore() throws InterruptedException {
    witness.read(new BufferedReader(new StringReader("opening\n")));
    assertFalse(witness.await("write", 60_000));
  }
}
