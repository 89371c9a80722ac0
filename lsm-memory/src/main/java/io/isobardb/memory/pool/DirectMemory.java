package io.isobardb.memory.pool;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.OperatingSystemMXBean;
import io.isobardb.memory.system.LinuxLimits;
import io.isobardb.memory.system.Region;
import io.isobardb.memory.system.SystemMemory;
import java.lang.management.ManagementFactory;

/** How much memory outside the heap the JVM lets this process have. */
public final class DirectMemory {
  private static final String OPTION = "MaxDirectMemorySize";
  private static final long LIMIT_BYTES = find();

  private static final long SYSTEM_BYTES = findSystem();

  private DirectMemory() {}

  /**
   * The memory of the container that the process is in, or of the machine, in bytes; {@link
   * Long#MAX_VALUE} if the JVM does not tell.
   */
  public static long systemBytes() {
    return SYSTEM_BYTES;
  }

  private static long findSystem() {
    long told = new LinuxLimits().memoryBytes();
    return told == LinuxLimits.UNKNOWN ? ofSystemBean() : told;
  }

  private static long ofSystemBean() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
            && system.getTotalMemorySize() > 0
        ? system.getTotalMemorySize()
        : Long.MAX_VALUE;
  }

  /**
   * The value of {@code -XX:MaxDirectMemorySize} in bytes, or what the JVM takes for it if it was
   * not given: the heap's maximum.
   */
  public static long limitBytes() {
    return LIMIT_BYTES;
  }

  private static long find() {
    String option = new LinuxLimits().jvmOption("-XX:" + OPTION + "=");
    long given = option == null ? -1 : option.isEmpty() ? 0 : bytes(option);
    if (given < 0) {
      given = ofDiagnosticBean();
    }
    return given > 0 ? given : Runtime.getRuntime().maxMemory();
  }

  /** The value of an option as the JVM takes it; -1 if it is of a form that the JVM has to tell. */
  static long bytes(String size) {
    int unit = "kmgt".indexOf(Character.toLowerCase(size.charAt(size.length() - 1)));
    int digits = unit < 0 ? size.length() : size.length() - 1;
    if (digits == 0 || digits > 12 || unit > 1 && digits > 6) {
      return -1;
    }
    long value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = size.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value << 10 * (unit + 1);
  }

  private static long ofDiagnosticBean() {
    long given = 0;
    try {
      HotSpotDiagnosticMXBean bean =
          ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
      if (bean != null) {
        given = Long.parseLong(bean.getVMOption(OPTION).getValue());
      }
    } catch (IllegalArgumentException notHotSpot) {
      given = 0; // The option is not known here: the heap's maximum is the rule of other JVMs too.
    }
    return given;
  }

  /**
   * Holds a budget against {@link #limitBytes}.
   *
   * @throws IllegalArgumentException if the JVM would not give that much; names the option
   */
  static void check(long budgetBytes) {
    long limitBytes = limitBytes();
    if (budgetBytes > limitBytes) {
      throw new IllegalArgumentException(
          "a memory budget of "
              + budgetBytes
              + " bytes is more than the JVM's direct memory of "
              + limitBytes
              + " bytes: lower it, or raise -XX:"
              + OPTION);
    }
  }

  /**
   * Holds all regions of this process to {@link #limitBytes} together: the JVM does not count those
   * that are mapped.
   */
  static SystemMemory limited(SystemMemory system) {
    return bytes -> {
      synchronized (DirectMemory.class) {
        if (Region.heldBytes() + bytes + Region.OVERHEAD_BYTES > LIMIT_BYTES) {
          throw new OutOfMemoryError(
              Region.heldBytes() + " of " + LIMIT_BYTES + " bytes of direct memory are in use");
        }
        return system.take(bytes);
      }
    };
  }

  /** The error for a refusal of the system. */
  static OutOfBudgetException refused(long bytes, long allocatedBytes, Throwable cause) {
    return new OutOfBudgetException(
        "the system refused "
            + bytes
            + " bytes of direct memory, "
            + allocatedBytes
            + " bytes of the budget being allocated: raise -XX:"
            + OPTION
            + " ("
            + limitBytes()
            + " bytes, shared by all stores of this process)",
        cause);
  }
}
