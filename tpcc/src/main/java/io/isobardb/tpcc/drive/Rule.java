package io.isobardb.tpcc.drive;

/**
 * One rule of a valid run.
 *
 * @param name what it is about
 * @param value what was found, for people
 * @param limits what is allowed, for people
 * @param holds whether it was kept
 */
public record Rule(String name, String value, String limits, boolean holds) {
  @Override
  public String toString() {
    return String.format("%s %-44s %12s   %s", holds ? "[OK]" : "[NG]", name, value, limits);
  }
}
