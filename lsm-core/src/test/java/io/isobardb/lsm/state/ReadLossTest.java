package io.isobardb.lsm.state;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReadLossTest {
  private final AtomicInteger told = new AtomicInteger();
  private final ReadLoss loss = new ReadLoss();

  ReadLossTest() {
    loss.listen(told::incrementAndGet);
  }

  @Test
  void readsTellOnceWhenTheyHaveLostWhatWasAskedFor() {
    loss.tellAt(1000);
    loss.steps(19, 0, 1);
    assertEquals(0, told.get());
    loss.steps(1, 0, 1);
    loss.steps(1, 0, 1);
    assertEquals(1, told.get());
    assertEquals(1050, loss.nanosSinceCleared());
    assertEquals(0, loss.nanos());
  }

  @Test
  void whatWasLostBeforeIsToldAtOnce() {
    loss.gets(64, 3);
    loss.tellAt(loss.nanosPerRun() + 1);
    assertEquals(0, told.get());
    loss.tellAt(loss.nanosPerRun());
    assertEquals(1, told.get());
  }

  @Test
  void lookupsLoseAnIndexIfAllGoesToDisk() {
    loss.seek(1);
    loss.steps(100, 25, 3);
    assertEquals(7000, loss.scans().nanos());
    loss.gets(10, 3);
    assertEquals(5500, loss.scans().nanos());
    assertEquals(7500, loss.nanosPerRun());
  }

  @Test
  void theyTellWhichPartTheyPass() {
    assertEquals(0, loss.scans().passedPart());
    loss.steps(100, 0, 3);
    ReadLoss.Scans before = loss.scans();
    loss.steps(75, 25, 3);
    assertEquals(0.125, loss.scans().passedPart());
    assertEquals(0.25, loss.scans().since(before).passedPart());
  }

  @Test
  void aMergeBeginsAnew() {
    loss.gets(64, 1);
    loss.clear();
    assertEquals(0, loss.nanosSinceCleared());
    loss.tellAt(loss.nanosPerRun() + 1);
    assertEquals(0, told.get());
    loss.tellAt(Long.MAX_VALUE);
    loss.gets(64, 1);
    assertEquals(0, told.get());
  }
}
