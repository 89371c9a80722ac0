package io.isobardb.lsm.io;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The default file system with a guard that may refuse calls: what a missing right or a read-only
 * mount does, also for a user whom the system refuses nothing.
 */
public final class GuardedFiles {
  /** What a call is about to do to a file or directory; the last two change something. */
  public enum Access {
    /** Looks at attributes, or searches a directory. */
    LOOK,
    READ,
    WRITE,
    /** Renames or deletes, which needs a right to write, but no room. */
    NAME
  }

  /** Refuses calls. */
  @FunctionalInterface
  public interface Guard {
    /**
     * A call is made.
     *
     * @throws IOException to refuse it
     */
    void check(Access access, Path path) throws IOException;

    /** What a caller gets for a channel that was opened. */
    default FileChannel opened(Path path, FileChannel channel) throws IOException {
      return channel;
    }

    /** What a caller gets for the free space of a file system, in bytes. */
    default long usableBytes(long found) {
      return found;
    }
  }

  private final Guard guard;
  private final FileSystem real = FileSystems.getDefault();
  private final Provider provider = new Provider();
  private final Guarded fileSystem = new Guarded();

  private GuardedFiles(Guard guard) {
    this.guard = guard;
  }

  /** A path that leads to the same file, through a guard. */
  public static Path guard(Path path, Guard guard) {
    return new GuardedFiles(guard).wrap(path);
  }

  private Path wrap(Path path) {
    return (Path)
        Proxy.newProxyInstance(
            GuardedFiles.class.getClassLoader(),
            new Class<?>[] {Path.class, Wrapped.class},
            (proxy, method, arguments) -> {
              switch (method.getName()) {
                case "unwrapped" -> {
                  return path;
                }
                case "getFileSystem" -> {
                  return fileSystem;
                }
                case "toRealPath" -> guard.check(Access.LOOK, path);
                case "iterator" -> {
                  List<Path> parts = new ArrayList<>();
                  path.forEach(part -> parts.add(wrap(part)));
                  return parts.iterator();
                }
                default -> {}
              }
              Object[] given = arguments == null ? new Object[0] : arguments.clone();
              for (int i = 0; i < given.length; i++) {
                given[i] = given[i] instanceof Wrapped wrapped ? wrapped.unwrapped() : given[i];
              }
              try {
                Object result = method.invoke(path, given);
                return result instanceof Path there ? wrap(there) : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private interface Wrapped {
    Path unwrapped();
  }

  private static Path unwrap(Path path) {
    return path instanceof Wrapped wrapped ? wrapped.unwrapped() : path;
  }

  private Path checked(Access access, Path path) throws IOException {
    Path there = unwrap(path);
    guard.check(access, there);
    return there;
  }

  private final class Provider extends FileSystemProvider {
    private final FileSystemProvider system = real.provider();

    @Override
    public String getScheme() {
      return "guarded";
    }

    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Path getPath(URI uri) {
      throw new UnsupportedOperationException();
    }

    private Access access(Set<? extends OpenOption> options) {
      return options.contains(StandardOpenOption.WRITE)
              || options.contains(StandardOpenOption.APPEND)
          ? Access.WRITE
          : Access.READ;
    }

    @Override
    public FileChannel newFileChannel(
        Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
        throws IOException {
      Path there = checked(access(options), path);
      return guard.opened(there, system.newFileChannel(there, options, attributes));
    }

    @Override
    public SeekableByteChannel newByteChannel(
        Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
        throws IOException {
      return system.newByteChannel(checked(access(options), path), options, attributes);
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(
        Path path, DirectoryStream.Filter<? super Path> filter) throws IOException {
      DirectoryStream<Path> paths =
          system.newDirectoryStream(checked(Access.READ, path), any -> true);
      return new DirectoryStream<>() {
        @Override
        public Iterator<Path> iterator() {
          List<Path> wrapped = new ArrayList<>();
          paths.forEach(one -> wrapped.add(wrap(one)));
          return wrapped.iterator();
        }

        @Override
        public void close() throws IOException {
          paths.close();
        }
      };
    }

    @Override
    public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
      system.createDirectory(checked(Access.WRITE, path), attributes);
    }

    @Override
    public void createLink(Path link, Path existing) throws IOException {
      system.createLink(checked(Access.WRITE, link), unwrap(existing));
    }

    @Override
    public void delete(Path path) throws IOException {
      system.delete(checked(Access.NAME, path));
    }

    @Override
    public void copy(Path from, Path to, CopyOption... options) throws IOException {
      system.copy(checked(Access.READ, from), checked(Access.WRITE, to), options);
    }

    @Override
    public void move(Path from, Path to, CopyOption... options) throws IOException {
      system.move(checked(Access.NAME, from), checked(Access.NAME, to), options);
    }

    @Override
    public boolean isSameFile(Path path, Path other) throws IOException {
      return system.isSameFile(checked(Access.LOOK, path), unwrap(other));
    }

    @Override
    public boolean isHidden(Path path) throws IOException {
      return system.isHidden(checked(Access.LOOK, path));
    }

    @Override
    public FileStore getFileStore(Path path) throws IOException {
      return new GuardedStore(system.getFileStore(checked(Access.LOOK, path)));
    }

    @Override
    public void checkAccess(Path path, AccessMode... modes) throws IOException {
      system.checkAccess(checked(Access.LOOK, path), modes);
    }

    @Override
    public <V extends FileAttributeView> @Nullable V getFileAttributeView(
        Path path, Class<V> type, LinkOption... options) {
      return system.getFileAttributeView(unwrap(path), type, options);
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(
        Path path, Class<A> type, LinkOption... options) throws IOException {
      return system.readAttributes(checked(Access.LOOK, path), type, options);
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String names, LinkOption... options)
        throws IOException {
      return system.readAttributes(checked(Access.LOOK, path), names, options);
    }

    @Override
    public void setAttribute(Path path, String name, Object value, LinkOption... options)
        throws IOException {
      system.setAttribute(checked(Access.WRITE, path), name, value, options);
    }
  }

  /** The rest is as of the store itself. */
  private final class GuardedStore extends FileStore {
    private final FileStore store;

    GuardedStore(FileStore store) {
      this.store = store;
    }

    @Override
    public long getUsableSpace() throws IOException {
      return guard.usableBytes(store.getUsableSpace());
    }

    @Override
    public String name() {
      return store.name();
    }

    @Override
    public String type() {
      return store.type();
    }

    @Override
    public boolean isReadOnly() {
      return store.isReadOnly();
    }

    @Override
    public long getTotalSpace() throws IOException {
      return store.getTotalSpace();
    }

    @Override
    public long getUnallocatedSpace() throws IOException {
      return store.getUnallocatedSpace();
    }

    @Override
    public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
      return store.supportsFileAttributeView(type);
    }

    @Override
    public boolean supportsFileAttributeView(String name) {
      return store.supportsFileAttributeView(name);
    }

    @Override
    public <V extends FileStoreAttributeView> @Nullable V getFileStoreAttributeView(Class<V> type) {
      return store.getFileStoreAttributeView(type);
    }

    @Override
    public Object getAttribute(String attribute) throws IOException {
      return store.getAttribute(attribute);
    }
  }

  private final class Guarded extends FileSystem {
    @Override
    public FileSystemProvider provider() {
      return provider;
    }

    @Override
    public void close() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public boolean isReadOnly() {
      return false;
    }

    @Override
    public String getSeparator() {
      return real.getSeparator();
    }

    @Override
    public Iterable<Path> getRootDirectories() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
      return real.supportedFileAttributeViews();
    }

    @Override
    public Path getPath(String first, String... more) {
      return wrap(real.getPath(first, more));
    }

    @Override
    public PathMatcher getPathMatcher(String pattern) {
      throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
      return real.getUserPrincipalLookupService();
    }

    @Override
    public WatchService newWatchService() {
      throw new UnsupportedOperationException();
    }
  }
}
