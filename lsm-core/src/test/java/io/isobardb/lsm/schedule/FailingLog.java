package io.isobardb.lsm.schedule;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** While it is open, each message of a class, or of all in a package, fails in the log. */
public final class FailingLog extends Handler implements AutoCloseable {
  private final Logger logger;
  private final @Nullable Level level;
  private final boolean toParents;
  private final AtomicBoolean asked = new AtomicBoolean();

  /**
   * @param teller whose messages fail
   */
  public FailingLog(Class<?> teller) {
    this(teller.getName());
  }

  /**
   * @param name of a class or a package
   */
  public FailingLog(String name) {
    logger = Logger.getLogger(name);
    level = logger.getLevel();
    toParents = logger.getUseParentHandlers();
    logger.setUseParentHandlers(false);
    logger.setLevel(Level.ALL);
    logger.addHandler(this);
  }

  /** Whether there was a message. */
  public boolean isAsked() {
    return asked.get();
  }

  @Override
  public void publish(LogRecord record) {
    asked.set(true);
    throw new ExceptionInInitializerError("planted");
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setLevel(level);
    logger.setUseParentHandlers(toParents);
  }
}
