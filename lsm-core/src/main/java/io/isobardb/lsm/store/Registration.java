package io.isobardb.lsm.store;

import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.observe.Figure;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * A store and its trees, registered with JMX.
 *
 * <p>Thread rule: the monitor of {@link Lifetime} is held.
 */
final class Registration {
  private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
  private final OpenStore open;
  private final String path;
  private final ObjectName store;
  private final Map<String, ObjectName> trees = new HashMap<>();

  /**
   * Registers the store and the trees it has.
   *
   * @param path of the store
   */
  Registration(OpenStore open, String path) throws JMException {
    this.open = open;
    this.path = ObjectName.quote(path);
    this.store = new ObjectName("io.isobardb:type=Store,path=" + this.path);
    server.registerMBean(new StoreBean(open), store);
    open.stats().trees().forEach(tree -> add(tree.name()));
  }

  ObjectName store() {
    return store;
  }

  /** Registers a tree. */
  void add(String tree) {
    try {
      ObjectName name =
          new ObjectName("io.isobardb:type=Tree,path=" + path + ",name=" + ObjectName.quote(tree));
      server.registerMBean(
          new StatsBean<>(
              "A tree of an Isobar store", Figure.ofTree(), () -> open.recent().tree(tree)),
          name);
      trees.put(tree, name);
    } catch (JMException e) {
      SystemLog.tell(
          Level.WARNING,
          Registration.class,
          () -> "JMX does not take tree '" + tree + "' of " + path,
          e);
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
      SystemLog.tell(Level.WARNING, Registration.class, () -> "JMX does not let go of " + name, e);
    }
  }
}
