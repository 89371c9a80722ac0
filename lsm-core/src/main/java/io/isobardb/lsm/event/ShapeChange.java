package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.Shape}. Not thread-safe; may be handed on. */
@Name("isobar.Shape")
@Label("Shape")
@Category("Isobar")
@Description("How many runs the levels of a tree are to have was decided")
@StackTrace(false)
@Registered(false)
final class ShapeChange extends Event {
  @Label("Store")
  String store = "";

  @Label("Tree")
  String tree = "";

  @Label("Window")
  long window;

  @Label("Runs")
  String from = "";

  @Label("Runs Wanted")
  String to = "";

  @Label("Modelled Cost")
  @Description("Weighted pages for each operation, by the model, with the runs that are")
  double modelledCost;

  @Label("Expected Cost")
  @Description("The same with those that are wanted")
  double expectedCost;

  @Label("Found Cost")
  double foundCost;

  @Label("Price")
  @Description("Weighted pages that the change rewrites")
  double price;

  @Label("Action")
  String action = "";

  @Label("Reason")
  String reason = "";
}
