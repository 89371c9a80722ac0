package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.Stall}. Not thread-safe; may be handed on. */
@Name("isobar.Stall")
@Label("Stall")
@Category("Isobar")
@Description("A writer waited")
@StackTrace(false)
@Registered(false)
public final class StallSpan extends Event {
  @Label("Store")
  String store = "";

  @Label("Reason")
  String reason = "";

  private StallSpan() {}

  /** Begins one. */
  public static StallSpan start() {
    StallSpan span = new StallSpan();
    span.begin();
    return span;
  }
}
