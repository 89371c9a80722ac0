package io.isobardb.kafka;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.kafka.streams.processor.StateStore;
import org.jspecify.annotations.Nullable;

/**
 * Tells Kafka how long a state store keeps its entries. Kafka asks from 4.4 on, by an interface
 * that is not public and that earlier releases lack. It then restores as much of a changelog, and
 * else all of it.
 *
 * <p>Thread rule: that of the state store.
 */
final class ToldRetention implements InvocationHandler {
  /** What Kafka asks by; null before 4.4. */
  private static final @Nullable Class<?> ASKS = asks();

  private final StateStore store;
  private final long retention;

  private ToldRetention(StateStore store, long retention) {
    this.store = store;
    this.retention = retention;
  }

  /**
   * A state store that tells its retention, if Kafka asks for it.
   *
   * @param <S> an interface
   * @param retention how long entries are kept, in milliseconds
   */
  @SuppressWarnings("unchecked") // The proxy has all interfaces of the state store.
  static <S extends StateStore> S of(S store, long retention) {
    Class<?> asks = ASKS;
    if (asks == null) {
      return store;
    }
    Set<Class<?>> interfaces = new LinkedHashSet<>();
    for (Class<?> of = store.getClass(); of != null; of = of.getSuperclass()) {
      interfaces.addAll(Arrays.asList(of.getInterfaces()));
    }
    interfaces.add(asks);
    return (S)
        Proxy.newProxyInstance(
            asks.getClassLoader(),
            interfaces.toArray(Class<?>[]::new),
            new ToldRetention(store, retention));
  }

  private static @Nullable Class<?> asks() {
    try {
      return Class.forName(
          "org.apache.kafka.streams.state.internals.WithRetentionPeriod",
          false,
          StateStore.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    if (method.getDeclaringClass() == ASKS) {
      return retention;
    }
    if (method.getName().equals("equals") && arguments != null) {
      return proxy == arguments[0];
    }
    try {
      return method.invoke(store, arguments);
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
