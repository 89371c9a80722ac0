package io.isobardb.cli.console;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An argument of a command line that makes no sense; the command ends with {@link Exit#USAGE}. */
public final class UsageException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message names the argument and says what would do
   */
  public UsageException(String message) {
    super(message);
  }

  /**
   * With a cause.
   *
   * @param message what does not make sense, and what would
   * @param cause why it does not make sense
   */
  public UsageException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * Makes something of what the user has given.
   *
   * @param <T> what is made
   * @param make throws {@link IllegalArgumentException} for what it refuses
   * @return what was made
   * @throws UsageException if {@code make} refuses its arguments
   */
  public static <T> T ofArguments(Supplier<T> make) {
    try {
      return make.get();
    } catch (UsageException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    }
  }

  /**
   * Refuses an option's list that names something twice.
   *
   * @param option its name, with hyphens
   * @param names what it was given
   */
  public static void checkDistinct(String option, List<String> names) {
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      if (!seen.add(name)) {
        throw new UsageException(option + " names " + name + " twice");
      }
    }
  }
}
