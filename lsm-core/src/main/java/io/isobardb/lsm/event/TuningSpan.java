package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.Tuning}. Not thread-safe; may be handed on. */
@Name("isobar.Tuning")
@Label("Tuning")
@Category("Isobar")
@Description("The memory tuner decided how large write memory is to be")
@StackTrace(false)
@Registered(false)
public final class TuningSpan extends Event {
  @Label("Store")
  String store = "";

  @Label("Cycle")
  long cycle;

  @Label("Operations")
  long operations;

  @Label("Write Memory")
  @DataAmount
  long fromBytes;

  @Label("Write Memory Wanted")
  @DataAmount
  long toBytes;

  @Label("Pages Written per Operation")
  double writeCost;

  @Label("Pages Read per Operation")
  double readCost;

  @Label("Cost")
  @Description("Pages written and read per operation, weighted: found of the decision before")
  double cost;

  @Label("Predicted Cost")
  double predictedCost;

  @Label("Expected Cost")
  @Description("What the decision before predicted for this cycle")
  double expectedCost;

  @Label("Method")
  String method = "";

  @Label("Reason")
  String reason = "";

  private TuningSpan() {}

  /** Begins one. */
  public static TuningSpan start() {
    TuningSpan span = new TuningSpan();
    span.begin();
    return span;
  }
}
