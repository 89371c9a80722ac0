package io.isobardb.lsm.store;

import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.io.NewDirectory;
import io.isobardb.lsm.observe.Figure;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.lsm.recovery.BackupDirectory;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;
import javax.management.AttributeNotFoundException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.ReflectionException;
import org.jspecify.annotations.Nullable;

/**
 * A store seen by JMX: its figures, four texts, and one operation, {@code backup}.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class StoreBean extends StatsBean<StoreStats> {
  private static final String BACKUP = "backup";
  private static final String STRING = String.class.getName();

  private static final List<MBeanAttributeInfo> TEXTS =
      List.of(
          OpenValues.text("Path", "The directory of the store."),
          OpenValues.text(
              "Failure", "What has stopped the store from writing; null if nothing has."),
          OpenValues.texts(
              "OpenHandles",
              "What users have open, the oldest first, with where it was taken; empty unless the"
                  + " JVM has -Disobar.leaks=true."),
          OpenValues.text("Json", "All of StoreStats as JSON, tree by tree."));

  private static final MBeanParameterInfo DIRECTORY =
      new MBeanParameterInfo(
          "directory",
          STRING,
          "The full path, on the store's machine, of a directory of backups; made if missing.");

  private static final MBeanParameterInfo RATE =
      new MBeanParameterInfo(
          "bytesPerSecond",
          long.class.getName(),
          "How much of the store is read in a second, in bytes; at least 1.");

  private static final MBeanOperationInfo[] OPERATIONS = {
    backup(
        "Backs the store up, as of one moment over all trees; returns the backup's ID.", DIRECTORY),
    backup(
        "Backs the store up, reading at most so many bytes in a second; returns the backup's ID.",
        DIRECTORY,
        RATE)
  };

  private final OpenStore open;

  StoreBean(OpenStore open) {
    super("The Isobar store in " + open.path(), Figure.ofStore(), open::metrics);
    this.open = open;
  }

  private static MBeanOperationInfo backup(String text, MBeanParameterInfo... parameters) {
    return new MBeanOperationInfo(
        BACKUP, text, parameters, long.class.getName(), MBeanOperationInfo.ACTION);
  }

  @Override
  public MBeanInfo getMBeanInfo() {
    return info(TEXTS, OPERATIONS);
  }

  @Override
  public @Nullable Object getAttribute(String name) throws AttributeNotFoundException {
    return switch (name) {
      case "Path" -> open.path();
      case "Failure" -> failure();
      case "OpenHandles" -> open.openHandles().toArray(new String[0]);
      case "Json" -> open.stats().toJson();
      default -> super.getAttribute(name);
    };
  }

  private @Nullable String failure() {
    Throwable failure = open.engine().failure().cause();
    return failure == null ? null : failure.toString();
  }

  @Override
  public Object invoke(String operation, Object[] arguments, String[] types)
      throws ReflectionException {
    boolean limited = types.length == 2 && types[1].equals(long.class.getName());
    boolean known = types.length == 1 || limited;
    if (!operation.equals(BACKUP) || !known || !types[0].equals(STRING)) {
      return super.invoke(operation, arguments, types);
    }
    return backup((String) arguments[0], limited ? (long) arguments[1] : Long.MAX_VALUE);
  }

  /**
   * Backs the store up, as {@code Backups.create} does, for whoever may use JMX: the directory is
   * any that the store's process may write.
   */
  private long backup(String directory, long bytesPerSecond) {
    open.operations().checkOpen();
    Objects.requireNonNull(directory, "directory");
    if (bytesPerSecond < 1) {
      throw new IllegalArgumentException(
          "bytesPerSecond must be at least 1, not " + bytesPerSecond);
    }
    try (BackupDirectory backups =
        BackupDirectory.open(NewDirectory.forBackups(directory, FileAccess.OWNER))) {
      return open.backup(backups, bytesPerSecond).id();
    } catch (IsobarException | IOException e) {
      // A console may lack the classes of Isobar, so it gets the message in one that it has.
      SystemLog.tell(
          Level.WARNING,
          StoreBean.class,
          () -> open.path() + " could not be backed up to " + directory,
          e);
      throw new IllegalStateException("no backup was made in " + directory + ": " + e.getMessage());
    }
  }
}
