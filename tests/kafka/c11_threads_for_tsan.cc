// ThreadSanitizer of GCC 12 and clang 14 knows POSIX threads, but not C11's, which librdkafka uses: its
// threads would crash in the sanitizer's allocator, and its locks would not be seen. In a thread-sanitizer
// build these definitions take the place of the C library's for the whole process, librdkafka.so included.
#if defined(__SANITIZE_THREAD__)
#define HOURFOLD_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOURFOLD_TSAN 1
#endif
#endif

#ifdef HOURFOLD_TSAN

#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>
#include <memory>

namespace {

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* start) {
  const std::unique_ptr<Start> mine(static_cast<Start*>(start));
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(mine->function(mine->argument)));
}

int result(int code) {
  return code == 0           ? thrd_success
         : code == EBUSY     ? thrd_busy
         : code == ETIMEDOUT ? thrd_timedout
                             : thrd_error;
}

// The C library keeps its C11 objects in its POSIX ones.
pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  const int code = pthread_create(thread, nullptr, run, start.get());
  if (code == 0) static_cast<void>(start.release());
  return result(code);
}

int thrd_join(thrd_t thread, int* value) {
  void* answer = nullptr;
  const int code = pthread_join(thread, &answer);
  if (value != nullptr) *value = static_cast<int>(reinterpret_cast<std::intptr_t>(answer));
  return result(code);
}

int thrd_detach(thrd_t thread) { return result(pthread_detach(thread)); }

int mtx_init(mtx_t* mutex, int type) noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes,
                            (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
  const int code = pthread_mutex_init(posix(mutex), &attributes);
  pthread_mutexattr_destroy(&attributes);
  return result(code);
}

int mtx_lock(mtx_t* mutex) { return result(pthread_mutex_lock(posix(mutex))); }
int mtx_trylock(mtx_t* mutex) noexcept { return result(pthread_mutex_trylock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) noexcept { return result(pthread_mutex_unlock(posix(mutex))); }
void mtx_destroy(mtx_t* mutex) noexcept { pthread_mutex_destroy(posix(mutex)); }

int cnd_init(cnd_t* condition) noexcept { return result(pthread_cond_init(posix(condition), nullptr)); }
int cnd_signal(cnd_t* condition) noexcept { return result(pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) noexcept { return result(pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return result(pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return result(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}
void cnd_destroy(cnd_t* condition) noexcept { pthread_cond_destroy(posix(condition)); }

}  // extern "C"

#endif
