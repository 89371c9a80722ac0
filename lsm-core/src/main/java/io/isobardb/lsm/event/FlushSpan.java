package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.Flush}. Not thread-safe; may be handed on. */
@Name("isobar.Flush")
@Label("Flush")
@Category("Isobar")
@Description("A slice of a tree's memory was written to disk")
@StackTrace(false)
@Registered(false)
public final class FlushSpan extends Event {
  @Label("Store")
  String store = "";

  @Label("Tree")
  String tree = "";

  @Label("Kind")
  String kind = "";

  @Label("Bytes Written")
  @DataAmount
  long bytesWritten;

  @Label("Bytes Freed")
  @DataAmount
  long bytesFreed;

  private FlushSpan() {}

  /** Begins one. */
  public static FlushSpan start() {
    FlushSpan span = new FlushSpan();
    span.begin();
    return span;
  }
}
