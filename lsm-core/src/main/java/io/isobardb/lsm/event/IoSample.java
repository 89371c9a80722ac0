package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.Io}, once a second for each purpose. Not thread-safe. */
@Name("isobar.Io")
@Label("I/O by Purpose")
@Category("Isobar")
@Description("What a store has read and written for one purpose since it was opened")
@Period("1 s")
@StackTrace(false)
@Registered(false)
final class IoSample extends Event {
  @Label("Store")
  String store = "";

  @Label("Purpose")
  String purpose = "";

  @Label("Bytes Read")
  @DataAmount
  long bytesRead;

  @Label("Bytes Written")
  @DataAmount
  long bytesWritten;
}
