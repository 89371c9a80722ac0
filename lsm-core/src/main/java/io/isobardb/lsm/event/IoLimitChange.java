package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.IoLimit}, at each change. Not thread-safe. */
@Name("isobar.IoLimit")
@Label("I/O Limit")
@Category("Isobar")
@Description("What flushes and merges of a store may read and write from now on")
@StackTrace(false)
@Registered(false)
final class IoLimitChange extends Event {
  @Label("Store")
  String store = "";

  @Label("Merges of L0, per Second")
  @DataAmount
  long l0Bytes;

  @Label("All, per Second")
  @DataAmount
  long allBytes;

  @Label("Piece")
  @DataAmount
  long pieceBytes;

  @Label("Reason")
  String reason = "";
}
