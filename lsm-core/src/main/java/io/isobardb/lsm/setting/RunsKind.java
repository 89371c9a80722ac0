package io.isobardb.lsm.setting;

import io.isobardb.lsm.option.Runs;

/** Takes {@link Runs}, as {@code LAZY(8)} or {@code 8,4,1}. */
final class RunsKind extends OptionKind<Runs> {
  RunsKind() {
    super(
        Runs.class,
        "`LEVELED`, `LAZY(runs)`, `TIERED(runs)`, or numbers from the top down as `8,4,1`");
  }

  @Override
  public Runs read(String text) {
    return Runs.parse(text);
  }
}
