package io.isobardb.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.Tree;
import io.isobardb.netty.NettyTree;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A small server of keys and values, to this machine only. Requests and answers are frames: 4 bytes
 * of length, then
 *
 * <pre>
 * request: | 1 byte: operation | 2 bytes: length of the key | key | value |
 * answer:  | 1 byte: 0 done, 1 no such key, 2 refused | the value, the entries, or why |
 * </pre>
 *
 * The operations are put (1), get (2), delete (3) and scan (4): the entries from a key on, as many
 * as a frame takes. Bounded are the connections, the size of frames, and what waits to be sent.
 */
public final class BinaryServer implements AutoCloseable {
  private static final int MAX_FRAME = 1 << 20;
  private static final int MAX_CONNECTIONS = 64;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  // The store may block a write, and an event loop must not wait.
  private final DefaultEventExecutorGroup workers = new DefaultEventExecutorGroup(4);
  private final AtomicInteger connections = new AtomicInteger();
  private final Tree tree;
  private final Channel channel;

  /** Listens on a free port; the store stays the caller's. */
  public BinaryServer(Store store) {
    tree = store.openTree("served");
    channel =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  @SuppressWarnings("deprecation") // Simpler than a queue of one's own.
                  protected void initChannel(Channel client) {
                    client.closeFuture().addListener(closed -> connections.decrementAndGet());
                    if (connections.incrementAndGet() > MAX_CONNECTIONS) {
                      client.close();
                      return;
                    }
                    client
                        .pipeline()
                        .addLast(new LengthFieldBasedFrameDecoder(MAX_FRAME, 0, 4, 0, 4))
                        .addLast(workers, new Requests());
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
  }

  int port() {
    return ((InetSocketAddress) channel.localAddress()).getPort();
  }

  @Override
  public void close() {
    loops.shutdownGracefully().syncUninterruptibly();
    workers.shutdownGracefully().syncUninterruptibly();
  }

  /** Answers the requests of a connection, one after the other. Releases each frame. */
  private final class Requests extends SimpleChannelInboundHandler<ByteBuf> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf request) {
      ByteBuf answer = context.alloc().buffer().writeInt(0);
      try {
        answer(NettyTree.of(tree, context.alloc()), request, answer);
      } catch (RuntimeException e) {
        answer.writerIndex(4).writeByte(2).writeCharSequence(e.toString(), UTF_8);
      }
      context.writeAndFlush(answer.setInt(0, answer.readableBytes() - 4));
    }

    private void answer(NettyTree buffers, ByteBuf request, ByteBuf answer) {
      int operation = request.readByte();
      ByteBuf key = request.readSlice(request.readUnsignedShort());
      answer.writeByte(0);
      switch (operation) {
        case 1 -> buffers.put(key, request);
        case 2 -> answer.setByte(4, buffers.get(key, answer) == Tree.NOT_FOUND ? 1 : 0);
        case 3 -> buffers.delete(key);
        case 4 -> scan(key, answer);
        default -> throw new IllegalArgumentException("there is no operation " + operation);
      }
    }

    private void scan(ByteBuf from, ByteBuf answer) {
      try (Cursor cursor = tree.cursor()) {
        NettyTree.seek(cursor, from);
        cursor.forEach(
            Long.MAX_VALUE,
            (key, value) -> {
              if (answer.readableBytes() + key.remaining() + value.remaining() + 8 > MAX_FRAME) {
                return false;
              }
              answer.writeInt(key.remaining()).writeBytes(key);
              answer.writeInt(value.remaining()).writeBytes(value);
              return true;
            });
      }
    }

    /** A client that does not read its answers is not read from. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      context.channel().config().setAutoRead(context.channel().isWritable());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** The argument is the directory of the store. */
  public static void main(String[] args) throws Exception {
    try (Store store = Store.open(Path.of(args[0]));
        BinaryServer server = new BinaryServer(store)) {
      System.out.println("port " + server.port() + "; ends with a line of input");
      System.in.read();
    }
  }
}
