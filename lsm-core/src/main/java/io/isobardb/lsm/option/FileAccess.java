package io.isobardb.lsm.option;

/**
 * Who else may use the files and directories that are made, on file systems with POSIX permissions.
 * The process's umask may take more away. What is there already keeps its permissions.
 */
public enum FileAccess {
  /** Nobody: files are made with mode 600, directories with 700. */
  OWNER,
  /** The group may read: files are made with mode 640, directories with 750. */
  GROUP,
  /** Whoever the umask lets: files are made with mode 666, directories with 777. */
  UMASK
}
