// Servers that misbehave, on loopback: one that answers every connection with fixed bytes, and a proxy in
// front of a real server that cuts, swallows and refuses.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hourfold::contract {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Accepts on a port of its own and hands each connection to a thread.
class Listener {
 public:
  explicit Listener(std::function<void(int socket)> serve) : serve_(std::move(serve)) { listen_on(0); }
  ~Listener() {
    close();
    for (std::thread& thread : served_) thread.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void reopen() { listen_on(port_); }
  // Stops accepting and ends every connection.
  void close() {
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
    if (acceptor_.joinable()) acceptor_.join();
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    cut_all();
  }
  void cut_all() {
    const std::scoped_lock lock(mutex_);
    for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
  }

 private:
  void listen_on(std::uint16_t port) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = loopback(port);
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(socket_, 64) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this, listening = socket_] {
      for (int accepted = ::accept(listening, nullptr, nullptr); accepted >= 0;
           accepted = ::accept(listening, nullptr, nullptr)) {
        const std::scoped_lock lock(mutex_);
        open_.push_back(accepted);
        served_.emplace_back([this, accepted] {
          serve_(accepted);
          const std::scoped_lock closing(mutex_);
          std::erase(open_, accepted);
          ::close(accepted);
        });
      }
    });
  }

  std::function<void(int)> serve_;
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> served_;
  std::uint16_t port_ = 0;
  int socket_ = -1;
};

// Sends the bytes when something has been received, then goes on listening (hold) or hangs up.
inline std::function<void(int)> canned(std::string answer, bool hold) {
  return [answer = std::move(answer), hold](int socket) {
    char request[4096];
    if (::recv(socket, request, sizeof request, 0) <= 0) return;
    if (!answer.empty()) (void)!::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL);
    while (hold && ::recv(socket, request, sizeof request, 0) > 0) {
    }
  };
}

class TcpProxy {
 public:
  enum class Answers { kForward, kSwallow, kCut };

  explicit TcpProxy(const std::string& upstream)
      : port_(static_cast<std::uint16_t>(std::stoi(upstream.substr(upstream.rfind(':') + 1)))),
        listener_([this](int client) { serve(client); }) {}

  std::string address() const { return listener_.address(); }
  void cut_connections() {
    listener_.cut_all();
    // The client's kernel must have seen it.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  void refuse() { listener_.close(); }
  void accept_again() { listener_.reopen(); }
  // Cuts the connection instead of passing on an answer of which this is true. Set before the first
  // connection.
  std::function<bool(std::string_view)> cut_if = [](std::string_view) { return false; };
  // What happens to answers from now on; kCut counts down and then forwards.
  void answers(Answers mode, int cuts = 1'000'000) {
    cuts_left_ = cuts;
    mode_ = mode;
  }

 private:
  void serve(int client) {
    const int server = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(port_);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(server);
      return;
    }
    std::thread answering([&] {
      char bytes[65'536];
      for (ssize_t size = ::recv(server, bytes, sizeof bytes, 0); size > 0;
           size = ::recv(server, bytes, sizeof bytes, 0)) {
        if (mode_ == Answers::kSwallow) continue;
        if (mode_ == Answers::kCut && cuts_left_-- > 0) break;
        if (cut_if(std::string_view(bytes, static_cast<std::size_t>(size)))) break;
        if (::send(client, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) < 0) break;
      }
      ::shutdown(client, SHUT_RDWR);
    });
    char bytes[65'536];
    for (ssize_t size = ::recv(client, bytes, sizeof bytes, 0); size > 0;
         size = ::recv(client, bytes, sizeof bytes, 0)) {
      if (::send(server, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) < 0) break;
    }
    ::shutdown(server, SHUT_RDWR);
    answering.join();
    ::close(server);
  }

  const std::uint16_t port_;
  std::atomic<Answers> mode_{Answers::kForward};
  std::atomic<int> cuts_left_{0};
  Listener listener_;
};

}  // namespace hourfold::contract
