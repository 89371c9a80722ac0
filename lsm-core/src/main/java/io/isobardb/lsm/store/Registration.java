package io.isobardb.lsm.store;

import io.isobardb.lsm.observe.StoreMXBean;
import io.isobardb.lsm.observe.TreeMXBean;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import javax.management.Descriptor;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.jspecify.annotations.Nullable;

/**
 * A store and its trees, registered with JMX.
 *
 * <p>Thread rule: the monitor of {@link Lifetime} is held.
 */
final class Registration {
  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
  private final Beans beans;
  private final String path;
  private final ObjectName store;
  private final Map<String, ObjectName> trees = new HashMap<>();

  /** A bean with the descriptions of its attributes and operations. */
  private static final class Described<T> extends StandardMBean {
    private final String text;

    Described(T bean, Class<T> type, String text) {
      super(bean, type, true);
      this.text = text;
    }

    @Override
    protected String getDescription(MBeanInfo info) {
      return text;
    }

    @Override
    protected @Nullable String getDescription(MBeanAttributeInfo info) {
      return description(info.getDescriptor());
    }

    @Override
    protected @Nullable String getDescription(MBeanOperationInfo info) {
      return description(info.getDescriptor());
    }

    @Override
    protected String getParameterName(
        MBeanOperationInfo operation, MBeanParameterInfo parameter, int sequence) {
      return sequence == 0 ? "directory" : "bytesPerSecond";
    }

    @Override
    protected String getDescription(
        MBeanOperationInfo operation, MBeanParameterInfo parameter, int sequence) {
      return sequence == 0
          ? "The full path, on the store's machine, of a directory of backups; made if missing."
          : "How much of the store is read in a second, in bytes; at least 1.";
    }

    @Override
    protected int getImpact(MBeanOperationInfo info) {
      return MBeanOperationInfo.ACTION;
    }

    private static @Nullable String description(Descriptor descriptor) {
      return (String) descriptor.getFieldValue("description");
    }
  }

  /**
   * Registers the store and the trees it has.
   *
   * @param path of the store
   */
  Registration(Beans beans, String path) throws JMException {
    this.beans = beans;
    this.path = ObjectName.quote(path);
    this.store = new ObjectName("io.isobardb:type=Store,path=" + this.path);
    server.registerMBean(
        new Described<>(beans.store(), StoreMXBean.class, "The Isobar store in " + path), store);
    beans.trees().keySet().forEach(this::add);
  }

  ObjectName store() {
    return store;
  }

  /** Registers a tree. */
  void add(String tree) {
    try {
      ObjectName name =
          new ObjectName("io.isobardb:type=Tree,path=" + path + ",name=" + ObjectName.quote(tree));
      TreeMXBean bean = new TreeBean(tree, beans);
      server.registerMBean(
          new Described<>(bean, TreeMXBean.class, "A tree of an Isobar store"), name);
      trees.put(tree, name);
    } catch (JMException e) {
      System.getLogger(Registration.class.getName())
          .log(Level.WARNING, "JMX does not take tree '" + tree + "' of " + path, e);
    }
  }

  /** Takes a tree back. */
  void remove(String tree) {
    ObjectName name = trees.remove(tree);
    if (name != null) {
      unregister(name);
    }
  }

  /** Takes all back. */
  void removeAll() {
    trees.values().forEach(this::unregister);
    trees.clear();
    unregister(store);
  }

  private void unregister(ObjectName name) {
    try {
      server.unregisterMBean(name);
    } catch (JMException e) {
      System.getLogger(Registration.class.getName())
          .log(Level.WARNING, "JMX does not let go of " + name, e);
    }
  }
}
