package io.isobardb.lsm.event;

import io.isobardb.lsm.observe.StallReason;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/**
 * A wait of a writer, and the JFR event {@code isobar.Stall}. Not thread-safe; may be handed on.
 */
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

  private final transient StallReason why;
  private final transient long startNanos;

  private StallSpan(StallReason why, long startNanos) {
    this.why = why;
    this.startNanos = startNanos;
  }

  /** Begins one. */
  public static StallSpan start(StallReason why, long nowNanos) {
    StallSpan span = new StallSpan(why, nowNanos);
    span.begin();
    return span;
  }

  /** What the writer waits for. */
  public StallReason why() {
    return why;
  }

  /** When it began, by the store's clock. */
  public long startNanos() {
    return startNanos;
  }
}
