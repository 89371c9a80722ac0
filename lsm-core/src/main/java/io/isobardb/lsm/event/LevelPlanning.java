package io.isobardb.lsm.event;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** The JFR event {@code isobar.LevelPlanning}. Not thread-safe; may be handed on. */
@Name("isobar.LevelPlanning")
@Label("Level Planning")
@Category("Isobar")
@Description("What the levels of a tree are to hold was decided")
@StackTrace(false)
@Registered(false)
final class LevelPlanning extends Event {
  @Label("Store")
  String store = "";

  @Label("Tree")
  String tree = "";

  @Label("Cycle")
  long cycle;

  @Label("Planned Bytes")
  @Description("What each level is to hold, from L1 on; none if they follow what L0 delivers")
  String plannedBytes = "";

  @Label("Modelled Cost")
  @Description("Entries merged for each entry put, by the model, with the sizes that were")
  double modelledCost;

  @Label("Expected Cost")
  @Description("What a plan is to come to")
  double expectedCost;

  @Label("Found Cost")
  @Description("What was found since the decision before")
  double foundCost;

  @Label("Action")
  String action = "";

  @Label("Reason")
  String reason = "";
}
