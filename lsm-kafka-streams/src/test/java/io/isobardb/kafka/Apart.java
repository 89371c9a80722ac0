package io.isobardb.kafka;

import java.io.IOException;
import java.io.InputStream;

/** A class loader that has the classes of this package for itself, and may lack one class. */
final class Apart extends ClassLoader {
  private static final String PACKAGE = Apart.class.getPackageName() + ".";

  private final String missing;

  Apart() {
    this("");
  }

  /**
   * @param missing the name of the class that it lacks
   */
  Apart(String missing) {
    super(Apart.class.getClassLoader());
    this.missing = missing;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (name.equals(missing)) {
      throw new ClassNotFoundException(name);
    }
    if (!name.startsWith(PACKAGE)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
