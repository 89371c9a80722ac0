package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.Sync}. Not thread-safe; may be handed on. */
@Name("isobar.Sync")
@Label("Sync")
@Category("Isobar")
@Description("The log was synced")
@StackTrace(false)
@Registered(false)
public final class SyncSpan extends Event {
  @Label("Store")
  String store = "";

  @Label("Bytes")
  @DataAmount
  long bytes;

  private SyncSpan() {}

  /** Begins one. */
  public static SyncSpan start() {
    SyncSpan span = new SyncSpan();
    span.begin();
    return span;
  }
}
