package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.Merge}. Not thread-safe; may be handed on. */
@Name("isobar.Merge")
@Label("Merge")
@Category("Isobar")
@Description("SSTables were merged, on disk or in memory")
@StackTrace(false)
@Registered(false)
public final class MergeSpan extends Event {
  @Label("Store")
  String store = "";

  @Label("Tree")
  String tree = "";

  @Label("Kind")
  String kind = "";

  @Label("Inputs")
  int inputs;

  @Label("Outputs")
  int outputs;

  @Label("Bytes Read")
  @DataAmount
  long bytesRead;

  @Label("Bytes Written")
  @DataAmount
  long bytesWritten;

  private MergeSpan() {}

  /** Begins one. */
  public static MergeSpan start() {
    MergeSpan span = new MergeSpan();
    span.begin();
    return span;
  }
}
