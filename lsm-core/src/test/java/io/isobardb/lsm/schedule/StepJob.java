package io.isobardb.lsm.schedule;

import org.jspecify.annotations.Nullable;

/** A job made of a lambda. */
final class StepJob implements Job {
  /** One step. */
  interface Step {
    boolean run() throws Exception;
  }

  private final Priority priority;
  private final String name;
  private final Step step;
  volatile @Nullable Throwable failure;

  StepJob(Priority priority, String name, Step step) {
    this.priority = priority;
    this.name = name;
    this.step = step;
  }

  @Override
  public Priority priority() {
    return priority;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean step() throws Exception {
    return step.run();
  }

  @Override
  public void onFailed(Throwable cause) {
    failure = cause;
  }
}
