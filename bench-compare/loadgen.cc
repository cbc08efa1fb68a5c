// Loads a Plasma store server through the official C++ client, and measures.
//
//   loadgen MODE --socket PATH [--server-pid PID] [--clients N] [--seconds S]
//           [--warmup S] [--pause-us N] [--burners N] [--idle N]
//   loadgen --list
//
// Prints one line of JSON. Any error of the client ends the run with status 1.
//
// Clients are processes, forked before the first of them connects: that is how a store is
// used, and page faults of one do not wait for locks of another. They start at the same
// moment, and what lies in the time window counts. A mode has a part that is timed, which
// is the operation, and may have one that is not and cleans up. The rate is the number of
// operations by the time spent in the timed part, summed over the clients.
//
// The ids of objects tell a server without a store what it has to answer, see src/main.rs.

#define _PLASMA_NO_DEPRECATE

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "plasma/client.h"

using arrow::Buffer;
using arrow::Status;
using plasma::ObjectBuffer;
using plasma::ObjectID;

constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kLarge = 64 * kMiB;
constexpr int64_t kSmall = 100;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;
// How long workers may take to connect and to prepare.
constexpr int64_t kReadyLimit = 60 * kSecond;

// ---------------------------------------------------------------------------
// Small things

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void Check(const Status& status, const char* what) {
  if (!status.ok()) throw Failure(std::string(what) + ": " + status.ToString());
}

void Require(bool fine, const char* what) {
  if (!fine) throw Failure(what);
}

int64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

void SleepUntil(int64_t when_ns) {
  timespec when = {static_cast<time_t>(when_ns / kSecond), static_cast<long>(when_ns % kSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

void Sleep(int64_t duration_ns) { SleepUntil(Now() + duration_ns); }

void Spin(int64_t duration_ns) {
  for (const int64_t end = Now() + duration_ns; Now() < end;) {
  }
}

template <typename Condition>
void WaitFor(const char* what, int64_t limit_ns, const Condition& condition) {
  for (const int64_t end = Now() + limit_ns; !condition(); Sleep(50'000)) {
    if (Now() > end) throw Failure(std::string("too long: ") + what);
  }
}

// The processor time of a process in nanoseconds: of its threads, which the kernel counts to
// the nanosecond, or else of the whole to the hundredth of a second.
int64_t CpuTime(pid_t pid) {
  if (pid <= 0) return 0;
  const std::string folder = "/proc/" + std::to_string(pid);
  int64_t total = 0;
  bool precise = true;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator(folder + "/task", error)) {
    int64_t run_ns = 0;
    precise = precise && (std::ifstream(task.path() / "schedstat") >> run_ns);
    total += run_ns;
  }
  if (precise && total > 0) return total;
  std::string text;
  std::getline(std::ifstream(folder + "/stat"), text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  int64_t user = 0;
  int64_t system = 0;
  fields >> user >> system;
  return (user + system) * (kSecond / sysconf(_SC_CLK_TCK));
}

// ---------------------------------------------------------------------------
// Latencies: counts by logarithmic classes, of which each is less than 1 percent wide

class Histogram {
 public:
  static constexpr int kSteps = 128;
  static constexpr int kClasses = 40 * kSteps;

  void Add(int64_t ns) {
    ++counts_[ClassOf(static_cast<uint64_t>(std::max<int64_t>(ns, 1)))];
    ++total_;
  }

  void Add(const Histogram& other) {
    for (int i = 0; i < kClasses; ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
  }

  // In microseconds.
  double Quantile(double share) const {
    const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(total_)));
    uint64_t seen = 0;
    for (int i = 0; i < kClasses; ++i) {
      seen += counts_[i];
      if (seen >= wanted && seen > 0) return (Lower(i) + Lower(i + 1)) / 2 / 1000;
    }
    return 0;
  }

 private:
  static int ClassOf(uint64_t ns) {
    if (ns < kSteps) return static_cast<int>(ns);
    const int shift = 63 - __builtin_clzll(ns) - 7;
    return std::min(kClasses - 1, (shift + 1) * kSteps + static_cast<int>((ns >> shift) - kSteps));
  }

  static double Lower(int number) {
    if (number < kSteps) return number;
    return std::ldexp(kSteps + number % kSteps, number / kSteps - 1);
  }

  uint64_t counts_[kClasses] = {};
  uint64_t total_ = 0;
};

// ---------------------------------------------------------------------------
// Clients and objects

struct Options {
  std::string mode;
  std::string socket;
  pid_t server_pid = 0;
  int clients = 1;
  int64_t seconds_ns = kSecond;
  int64_t warmup_ns = kSecond / 10;
  int64_t pause_ns = 0;
  int burners = 0;
  int idle = 0;
};

struct Client : plasma::PlasmaClient {
  explicit Client(const std::string& socket) { Check(Connect(socket), "connect"); }
  ~Client() { (void)Disconnect(); }
};

enum Tag : char { kOrdinary = 'O', kMissing = 'M', kAwaited = 'W' };

ObjectID Id(Tag tag, int owner, int64_t size, int64_t number) {
  std::string text(plasma::kUniqueIDSize, '\0');
  const auto short_owner = static_cast<uint16_t>(owner);
  text[0] = tag;
  memcpy(&text[2], &short_owner, sizeof(short_owner));
  memcpy(&text[4], &size, sizeof(size));
  memcpy(&text[12], &number, sizeof(number));
  return ObjectID::from_binary(text);
}

// Ids that no earlier run on the same store has used.
int64_t FirstNumber() { return Now(); }

// Copies what an object is made of. Pages of it were touched before.
class Source {
 public:
  explicit Source(int64_t size) : bytes_(static_cast<size_t>(size), 'x') {}
  void CopyTo(Buffer& target) const {
    memcpy(target.mutable_data(), bytes_.data(), static_cast<size_t>(target.size()));
  }

 private:
  std::string bytes_;
};

void Put(Client& client, const ObjectID& id, int64_t size, const Source& source) {
  std::shared_ptr<Buffer> data;
  Check(client.Create(id, size, nullptr, 0, &data), "create");
  source.CopyTo(*data);
  Check(client.Seal(id), "seal");
  // The buffer that a create gives does not do that by itself.
  Check(client.Release(id), "release");
}

std::vector<ObjectBuffer> Get(Client& client, const std::vector<ObjectID>& ids, int64_t timeout) {
  std::vector<ObjectBuffer> buffers;
  Check(client.Get(ids, timeout, &buffers), "get");
  return buffers;
}

// ---------------------------------------------------------------------------
// Modes

// One client's part in a mode.
struct Work {
  std::function<void()> timed;
  // Follows each timed part; may be missing.
  std::function<void()> after;
  // Bytes that one operation moves.
  int64_t bytes = 0;
};

struct Mode {
  const char* name;
  std::function<Work(Client&, int)> make;
};

ObjectID SharedObject() { return Id(kOrdinary, 65535, kSmall, 1); }

void MakeSharedObject(Client& client, int worker) {
  if (worker != 0) return;
  bool there = false;
  Check(client.Contains(SharedObject(), &there), "contains");
  // A server without a store has whatever it is asked for.
  if (!there) Put(client, SharedObject(), kSmall, Source(kSmall));
}

Work Cycle(Client& client, int worker) {
  auto number = std::make_shared<int64_t>(FirstNumber());
  auto source = std::make_shared<Source>(kSmall);
  return {[=, &client] {
            const ObjectID id = Id(kOrdinary, worker, kSmall, (*number)++);
            Put(client, id, kSmall, *source);
            // Released before, so that this one asks the server too.
            Require(Get(client, {id}, 0)[0].data != nullptr, "an object is gone");
            Check(client.Delete(id), "delete");
          },
          {}};
}

Work GetOne(Client& client, int worker) {
  MakeSharedObject(client, worker);
  return {[&client] {
            Require(Get(client, {SharedObject()}, 0)[0].data != nullptr, "an object is gone");
          },
          {}};
}

Work Contains(Client& client, int worker) {
  MakeSharedObject(client, worker);
  return {[&client] {
            bool there = false;
            Check(client.Contains(SharedObject(), &there), "contains");
            Require(there, "an object is gone");
          },
          {}};
}

Work Missing(Client& client, int worker) {
  const ObjectID id = Id(kMissing, worker, kSmall, 1);
  return {[id, &client] {
            Require(Get(client, {id}, 0)[0].data == nullptr, "an object that nobody made");
          },
          {}};
}

// Deletes what was made, a thousand at a time, so that the store does not grow.
std::function<void()> DeleteMany(Client& client, std::shared_ptr<std::vector<ObjectID>> made) {
  return [made, &client] {
    if (made->size() < 1000) return;
    Check(client.Delete(*made), "delete");
    made->clear();
  };
}

Work CreateAndSeal(Client& client, int worker) {
  auto number = std::make_shared<int64_t>(FirstNumber());
  auto made = std::make_shared<std::vector<ObjectID>>();
  const std::string data(kSmall, 'x');
  return {[=, &client] {
            made->push_back(Id(kOrdinary, worker, kSmall, (*number)++));
            Check(client.CreateAndSeal(made->back(), data, ""), "create and seal");
          },
          DeleteMany(client, made)};
}

Work Batch(Client& client, int worker) {
  auto number = std::make_shared<int64_t>(FirstNumber());
  auto made = std::make_shared<std::vector<ObjectID>>();
  const std::vector<std::string> data(100, std::string(kSmall, 'x'));
  const std::vector<std::string> metadata(100);
  return {[=, &client] {
            std::vector<ObjectID> ids;
            for (int i = 0; i < 100; ++i) {
              ids.push_back(Id(kOrdinary, worker, kSmall, (*number)++));
            }
            Check(client.CreateAndSealBatch(ids, data, metadata), "batch");
            made->insert(made->end(), ids.begin(), ids.end());
          },
          DeleteMany(client, made)};
}

Work GetMany(Client& client, int worker) {
  std::vector<ObjectID> ids;
  const int64_t first = FirstNumber();
  for (int i = 0; i < 1000; ++i) {
    ids.push_back(Id(kOrdinary, worker, kSmall, first + i));
    Check(client.CreateAndSeal(ids.back(), std::string(kSmall, 'x'), ""), "create and seal");
  }
  auto buffers = std::make_shared<std::vector<ObjectBuffer>>();
  return {[=, &client] { Check(client.Get(ids, 0, buffers.get()), "get"); },
          [=, &client] {
            for (const auto& buffer : *buffers) Require(buffer.data != nullptr, "missing");
            buffers->clear();
            // The releases have no replies; this one comes behind them.
            bool there;
            Check(client.Contains(ids[0], &there), "contains");
          }};
}

Work Abort(Client& client, int worker) {
  auto number = std::make_shared<int64_t>(FirstNumber());
  return {[=, &client] {
            const ObjectID id = Id(kOrdinary, worker, 1'000'000, (*number)++);
            std::shared_ptr<Buffer> data;
            Check(client.Create(id, 1'000'000, nullptr, 0, &data), "create");
            data.reset();
            Check(client.Release(id), "release");
            Check(client.Abort(id), "abort");
          },
          {}};
}

Work PutDelete(Client& client, int worker) {
  auto number = std::make_shared<int64_t>(FirstNumber());
  auto source = std::make_shared<Source>(kLarge);
  return {[=, &client] {
            const ObjectID id = Id(kOrdinary, worker, kLarge, (*number)++);
            Put(client, id, kLarge, *source);
            Check(client.Delete(id), "delete");
          },
          {},
          kLarge};
}

// Puts of 1 MiB into a store that is full already.
Work EvictMany(Client& client, int worker) {
  auto number = std::make_shared<int64_t>(FirstNumber());
  auto source = std::make_shared<Source>(kMiB);
  auto put = [=, &client] {
    Put(client, Id(kOrdinary, worker, kMiB, (*number)++), kMiB, *source);
  };
  // Twice as much as it holds, so that every page of it was touched by this client.
  const int64_t capacity = client.store_capacity();
  for (int64_t done = 0; done < 2 * capacity; done += kMiB) put();
  return {put, {}, kMiB};
}

const Mode kModes[] = {
    {"cycle", Cycle},
    {"get", GetOne},
    {"contains", Contains},
    {"missing", Missing},
    {"create-and-seal", CreateAndSeal},
    {"batch-100", Batch},
    {"get-1000", GetMany},
    {"abort-1mb", Abort},
    {"put-delete-64m", PutDelete},
    {"evict-1m", EvictMany},
};

// ---------------------------------------------------------------------------
// Running clients side by side

struct Slot {
  uint64_t operations;
  int64_t timed_ns;
  char error[300];
  Histogram latencies;
};

struct Shared {
  std::atomic<int> ready;
  std::atomic<int> failed;
  // When the window begins and ends; 0 until all are ready.
  std::atomic<int64_t> start_ns;
  std::atomic<int64_t> begin_ns;
  std::atomic<int64_t> end_ns;
  // For hand-overs, a pair each.
  std::atomic<int64_t> wanted[64];
  std::atomic<int64_t> sealed_ns[64];
};

Shared* shared;
Slot* slots;

template <typename T>
T* MapShared(size_t count) {
  void* memory = mmap(nullptr, sizeof(T) * count, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Failure("no memory");
  return static_cast<T*>(memory);
}

// A process of its own that ends with this one.
pid_t Fork(const std::function<void()>& body, char* error) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw Failure("fork");
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  try {
    body();
    _exit(0);
  } catch (const std::exception& failure) {
    snprintf(error, sizeof(Slot::error), "%s", failure.what());
    ++shared->failed;
    _exit(1);
  }
}

void AwaitStart() {
  ++shared->ready;
  WaitFor("the start", kReadyLimit, [] { return shared->start_ns != 0 || shared->failed > 0; });
  if (shared->failed > 0) _exit(1);
  SleepUntil(shared->start_ns);
}

void RunWorker(const Mode& mode, int worker, const Options& options, Slot& slot) {
  Client client(options.socket);
  const Work work = mode.make(client, worker);
  AwaitStart();
  const int64_t begin_ns = shared->begin_ns;
  const int64_t end_ns = shared->end_ns;
  int64_t from = Now();
  while (from < end_ns) {
    work.timed();
    const int64_t to = Now();
    if (from >= begin_ns && to <= end_ns) {
      ++slot.operations;
      slot.timed_ns += to - from;
      slot.latencies.Add(to - from);
    }
    from = to;
    if (!work.after && options.pause_ns == 0) continue;
    if (work.after) work.after();
    // As if the client computed something: what a sleep takes depends on the machine.
    if (options.pause_ns > 0) Spin(options.pause_ns);
    from = Now();
  }
}

// One waits in a get, the other seals.
void RunSealer(int pair, const Options& options, Slot& slot) {
  Client client(options.socket);
  AwaitStart();
  auto& wanted = shared->wanted[pair];
  int64_t number = FirstNumber();
  while (Now() < shared->end_ns) {
    const ObjectID id = Id(kAwaited, pair, kSmall, ++number);
    std::shared_ptr<Buffer> data;
    Check(client.Create(id, kSmall, nullptr, 0, &data), "create");
    memset(data->mutable_data(), 'x', kSmall);
    wanted = number;
    // Until the other has sent its request and sleeps.
    Sleep(300'000);
    const int64_t from = Now();
    Check(client.Seal(id), "seal");
    WaitFor("the getter", 10 * kSecond, [&] { return wanted == 0; });
    const int64_t to = shared->sealed_ns[pair];
    if (from >= shared->begin_ns && to <= shared->end_ns) {
      ++slot.operations;
      slot.timed_ns += to - from;
      slot.latencies.Add(to - from);
    }
    Check(client.Release(id), "release");
    Check(client.Delete(id), "delete");
  }
  wanted = -1;
}

void RunGetter(int pair, const Options& options) {
  Client client(options.socket);
  AwaitStart();
  auto& wanted = shared->wanted[pair];
  for (;;) {
    while (wanted == 0) Sleep(20'000);
    const int64_t number = wanted;
    if (number < 0) return;
    auto buffers = Get(client, {Id(kAwaited, pair, kSmall, number)}, -1);
    shared->sealed_ns[pair] = Now();
    Require(buffers[0].data != nullptr, "a get that waited has nothing");
    buffers.clear();
    wanted = 0;
  }
}

// Connections that never say anything.
void OpenIdle(const std::string& path, int count) {
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  for (int i = 0; i < count; ++i) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    Require(fd >= 0, "too few descriptors for idle connections");
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    Require(connect(fd, generic, sizeof(address)) == 0, "an idle connection is refused");
  }
}

void PrintJson(const std::vector<std::pair<const char*, double>>& fields) {
  printf("{");
  const char* separator = "";
  for (const auto& [name, value] : fields) {
    printf("%s\"%s\": %.9g", separator, name, value);
    separator = ", ";
  }
  printf("}\n");
}

void RunSideBySide(const Options& options) {
  const Mode* mode = nullptr;
  for (const auto& one : kModes) {
    if (options.mode == one.name) mode = &one;
  }
  const bool hand_over = options.mode == "hand-over";
  if (!mode && !hand_over) throw Failure("no such mode: " + options.mode);
  Require(options.clients >= 1 && options.clients <= (hand_over ? 64 : 1000), "bad --clients");
  OpenIdle(options.socket, options.idle);

  const auto count = static_cast<size_t>(options.clients);
  std::vector<pid_t> workers;
  std::vector<pid_t> burners;
  for (size_t i = 0; i < count; ++i) {
    Slot& slot = slots[i];
    const int number = static_cast<int>(i);
    if (hand_over) {
      workers.push_back(Fork([&, number] { RunGetter(number, options); }, slot.error));
      workers.push_back(Fork([&, number] { RunSealer(number, options, slot); }, slot.error));
    } else {
      workers.push_back(Fork([&, number] { RunWorker(*mode, number, options, slot); }, slot.error));
    }
  }
  for (int i = 0; i < options.burners; ++i) {
    burners.push_back(Fork([] { Spin(3600 * kSecond); }, slots[0].error));
  }
  WaitFor("clients", kReadyLimit, [&] {
    return shared->ready == static_cast<int>(workers.size()) || shared->failed > 0;
  });
  const int64_t start_ns = Now() + 10 * kMillisecond;
  shared->begin_ns = start_ns + options.warmup_ns;
  shared->end_ns = shared->begin_ns + options.seconds_ns;
  shared->start_ns = start_ns;
  SleepUntil(shared->begin_ns);
  const int64_t cpu_before = CpuTime(options.server_pid);
  const int64_t begun_ns = Now();
  SleepUntil(shared->end_ns);
  const int64_t cpu_ns = CpuTime(options.server_pid) - cpu_before;
  const int64_t elapsed_ns = Now() - begun_ns;
  bool fine = true;
  for (const pid_t pid : workers) {
    int status = 0;
    waitpid(pid, &status, 0);
    fine = fine && status == 0;
  }
  for (const pid_t pid : burners) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  double rate = 0;
  double operations = 0;
  Histogram latencies;
  for (size_t i = 0; i < count; ++i) {
    const Slot& slot = slots[i];
    if (slot.error[0] != 0) throw Failure(slot.error);
    latencies.Add(slot.latencies);
    operations += static_cast<double>(slot.operations);
    if (slot.timed_ns > 0) {
      rate += static_cast<double>(slot.operations) * 1e9 / static_cast<double>(slot.timed_ns);
    }
  }
  if (!fine) throw Failure("a client died");
  Require(operations > 0, "not one operation in the time given");
  // What one operation moves, of those modes that move anything worth the name.
  const double bytes = options.mode == "put-delete-64m" ? static_cast<double>(kLarge)
                       : options.mode == "evict-1m"     ? static_cast<double>(kMiB)
                                                        : 0;
  PrintJson({{"operations", operations},
             {"rate", rate},
             {"median_us", latencies.Quantile(0.5)},
             {"p99_us", latencies.Quantile(0.99)},
             {"cpu_us", static_cast<double>(cpu_ns) / 1000 / operations},
             {"cpu_share", static_cast<double>(cpu_ns) / static_cast<double>(elapsed_ns)},
             {"bandwidth", rate * bytes}});
}

// ---------------------------------------------------------------------------
// Large objects, one after the other

double Bandwidth(int64_t count, int64_t elapsed_ns) {
  return static_cast<double>(count * kLarge) * 1e9 / static_cast<double>(elapsed_ns);
}

// A burst of 256 MiB, the rest up to the capacity, and the same twice with eviction.
void RunFill(const Options& options) {
  Client client(options.socket);
  const Source source(kLarge);
  const int64_t count = client.store_capacity() / kLarge;
  Require(count >= 5, "the store is too small");
  int64_t number = FirstNumber();
  Histogram latencies;
  auto puts = [&](int64_t how_many) {
    const int64_t from = Now();
    for (int64_t i = 0; i < how_many; ++i) {
      const int64_t put_from = Now();
      Put(client, Id(kOrdinary, 0, kLarge, number++), kLarge, source);
      latencies.Add(Now() - put_from);
    }
    return Now() - from;
  };
  const int64_t burst_ns = puts(4);
  const int64_t rest_ns = puts(count - 4);
  const double fill_p99 = latencies.Quantile(0.99);
  const double fill_median = latencies.Quantile(0.5);
  puts(count);
  latencies = Histogram();
  const int64_t evict_ns = puts(count);
  PrintJson({{"operations", static_cast<double>(3 * count)},
             {"burst", Bandwidth(4, burst_ns)},
             {"fill", Bandwidth(count, burst_ns + rest_ns)},
             {"fill_median_us", fill_median},
             {"fill_p99_us", fill_p99},
             {"evict", Bandwidth(count, evict_ns)},
             {"evict_median_us", latencies.Quantile(0.5)},
             {"evict_p99_us", latencies.Quantile(0.99)}});
}

// Puts into a store that was full before, by a process that has not seen its memory yet.
void RunFresh(const Options& options) {
  Client client(options.socket);
  const Source source(kLarge);
  const int64_t count = std::min<int64_t>(8, client.store_capacity() / kLarge);
  const int64_t first = FirstNumber();
  const int64_t from = Now();
  for (int64_t i = 0; i < count; ++i) {
    Put(client, Id(kOrdinary, 0, kLarge, first + i), kLarge, source);
  }
  PrintJson({{"operations", static_cast<double>(count)},
             {"bandwidth", Bandwidth(count, Now() - from)}});
}

// Bursts of 256 MiB that are deleted each time. On a server without a store all but the first
// go to memory that this process has touched before. The best counts.
void RunTouched(const Options& options) {
  Client client(options.socket);
  const Source source(kLarge);
  int64_t number = FirstNumber();
  int64_t best_ns = INT64_MAX;
  for (int turn = 0; turn < 5; ++turn) {
    std::vector<ObjectID> ids;
    const int64_t from = Now();
    for (int i = 0; i < 4; ++i) {
      ids.push_back(Id(kOrdinary, 0, kLarge, number++));
      Put(client, ids.back(), kLarge, source);
    }
    if (turn > 0) best_ns = std::min(best_ns, Now() - from);
    Check(client.Delete(ids), "delete");
  }
  PrintJson({{"operations", 20.0}, {"bandwidth", Bandwidth(4, best_ns)}});
}

// ---------------------------------------------------------------------------

Options Parse(int argc, char** argv) {
  if (argc < 2) throw Failure("which mode?");
  Options options;
  options.mode = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    auto nanoseconds = [&] { return static_cast<int64_t>(std::stod(value) * 1e9); };
    if (name == "--socket") options.socket = value;
    else if (name == "--server-pid") options.server_pid = std::stoi(value);
    else if (name == "--clients") options.clients = std::stoi(value);
    else if (name == "--seconds") options.seconds_ns = nanoseconds();
    else if (name == "--warmup") options.warmup_ns = nanoseconds();
    else if (name == "--pause-us") options.pause_ns = std::stoll(value) * 1000;
    else if (name == "--burners") options.burners = std::stoi(value);
    else if (name == "--idle") options.idle = std::stoi(value);
    else throw Failure("unknown option " + name);
  }
  return options;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    for (const auto& mode : kModes) printf("%s\n", mode.name);
    printf("hand-over\nfill\nfresh\ntouched\n");
    return 0;
  }
  // The client library writes without MSG_NOSIGNAL.
  signal(SIGPIPE, SIG_IGN);
  // Sleeps end when they should.
  prctl(PR_SET_TIMERSLACK, 1);
  // Ends with who started it, whatever happens to that.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const Options options = Parse(argc, argv);
    shared = MapShared<Shared>(1);
    slots = MapShared<Slot>(1000);
    if (options.mode == "fill") RunFill(options);
    else if (options.mode == "fresh") RunFresh(options);
    else if (options.mode == "touched") RunTouched(options);
    else RunSideBySide(options);
  } catch (const std::exception& failure) {
    fprintf(stderr, "loadgen: %s\n", failure.what());
    return 1;
  }
  return 0;
}
