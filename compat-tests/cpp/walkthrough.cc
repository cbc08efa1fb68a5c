// Walks through every call of the C++ Plasma client against a store server.
//
//   walkthrough SERVER [NAME...]   run the named scenarios, or all of them
//   walkthrough --repeat-sigterm SERVER [NAME...]
//                                  the same, for a server that may lose a signal
//   walkthrough --list             print the scenario names
//   walkthrough --peer ROLE SOCKET a second process of one scenario (internal)
//
// Each scenario runs in a process of its own against a fresh store, because the
// client library ends the whole process when it dislikes a reply. One line is
// printed per scenario: `ok NAME` or `FAILED NAME: file:line: expression`.

#define _PLASMA_NO_DEPRECATE

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "plasma/client.h"

using arrow::Buffer;
using arrow::Status;
using plasma::ObjectBuffer;
using plasma::ObjectID;
using plasma::ObjectState;
using plasma::ObjectTable;

using Bytes = std::shared_ptr<Buffer>;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// ---------------------------------------------------------------------------
// Checks

struct CheckFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void Fail(const char* file, int line, const std::string& what) {
  const char* slash = strrchr(file, '/');
  std::ostringstream text;
  text << (slash ? slash + 1 : file) << ":" << line << ": " << what;
  throw CheckFailed(text.str());
}

template <typename Left, typename Right>
void CheckEqual(const char* file, int line, const char* expression, const Left& left,
                const Right& right) {
  if (left == right) return;
  std::ostringstream text;
  text << expression << " (" << left << " and " << right << ")";
  Fail(file, line, text.str());
}

void CheckOk(const char* file, int line, const char* expression, const Status& status) {
  if (!status.ok()) Fail(file, line, std::string(expression) + " (" + status.ToString() + ")");
}

#define CHECK(expression) \
  do {                    \
    if (!(expression)) Fail(__FILE__, __LINE__, #expression); \
  } while (false)
#define CHECK_EQ(left, right) CheckEqual(__FILE__, __LINE__, #left " == " #right, left, right)
#define CHECK_OK(expression) CheckOk(__FILE__, __LINE__, #expression, expression)

// ---------------------------------------------------------------------------
// The store process

constexpr int64_t kCapacity = 10'000'000;
constexpr int64_t kMiB = 1024 * 1024;
constexpr auto kReadyLimit = std::chrono::seconds(10);
constexpr auto kStopLimit = std::chrono::seconds(5);
constexpr unsigned kScenarioSeconds = 60;

std::string server_path;
bool repeat_sigterm = false;

pid_t Spawn(const std::vector<std::string>& words, const std::string& log_path) {
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = fork();
  if (pid != 0) return pid;
  // Nothing may outlive the process that started it, not even when that one
  // is killed by its time limit.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!log_path.empty()) {
    int log = open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execv(argv[0], argv.data());
  _exit(127);
}

bool WaitFor(std::chrono::nanoseconds limit, const std::function<bool()>& done) {
  const auto deadline = Clock::now() + limit;
  while (!done()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

// Waits for the end of a child; gives false, and no status, after the limit.
bool WaitForExit(pid_t pid, std::chrono::nanoseconds limit, int* status) {
  return WaitFor(limit, [&] { return waitpid(pid, status, WNOHANG) == pid; });
}

std::string DescribeStatus(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "status " + std::to_string(WEXITSTATUS(status));
}

bool Accepts(const std::string& socket_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, socket_path.c_str(), sizeof(address.sun_path) - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool connected =
      connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return connected;
}

class Store {
 public:
  Store(const std::string& folder, const std::string& name, int64_t capacity,
        const std::vector<std::string>& more_flags = {})
      : folder(folder), socket(folder + "/" + name), log_path(socket + ".log") {
    std::vector<std::string> words = {server_path, "-m", std::to_string(capacity), "-s", socket};
    words.insert(words.end(), more_flags.begin(), more_flags.end());
    pid_ = Spawn(words, log_path);
    bool ready = WaitFor(kReadyLimit, [&] { return HasEnded() || Accepts(socket); });
    if (!ready || ended_) {
      Kill();
      throw CheckFailed("the store did not start: " + Log());
    }
  }

  ~Store() { Kill(); }

  // Ends the store as its users do; anything but a prompt, clean exit fails.
  void Stop() {
    if (HasEnded()) throw CheckFailed("the store had ended with " + DescribeStatus(status_));
    const auto limit = repeat_sigterm ? kStopLimit / 5 : kStopLimit;
    for (auto left = kStopLimit; !ended_ && left.count() > 0; left -= limit) {
      kill(pid_, SIGTERM);
      ended_ = WaitForExit(pid_, limit, &status_);
    }
    if (!ended_) throw CheckFailed("the store did not end within 5 s of SIGTERM");
    if (status_ != 0) throw CheckFailed("the store ended with " + DescribeStatus(status_));
  }

  void Kill() {
    if (ended_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
    ended_ = true;
  }

  std::string Log() const {
    std::ifstream file(log_path);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    return text.size() > 2000 ? text.substr(text.size() - 2000) : text;
  }

  const std::string folder;
  const std::string socket;
  const std::string log_path;

 private:
  bool HasEnded() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }

  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

// ---------------------------------------------------------------------------
// Client helpers

// The client declares this class its friend; it is the only way to IsInUse.
namespace plasma {
class TestPlasmaStore_GetTest_Test {
 public:
  static bool IsInUse(PlasmaClient& client, const ObjectID& id) { return client.IsInUse(id); }
};
}  // namespace plasma

bool IsInUse(plasma::PlasmaClient& client, const ObjectID& id) {
  return plasma::TestPlasmaStore_GetTest_Test::IsInUse(client, id);
}

// A connected client. The library's own destructor leaves the connection open.
struct Client : plasma::PlasmaClient {
  explicit Client(const std::string& socket) { CHECK_OK(Connect(socket)); }
  explicit Client(const Store& store) : Client(store.socket) {}
  ~Client() { (void)Disconnect(); }
};

ObjectID Id(int number) {
  std::string text = "walkthrough object ";
  text.resize(plasma::kUniqueIDSize, '.');
  memcpy(&text[text.size() - sizeof(number)], &number, sizeof(number));
  return ObjectID::from_binary(text);
}

std::vector<ObjectID> Ids(int first, int count) {
  std::vector<ObjectID> ids;
  for (int i = 0; i < count; ++i) ids.push_back(Id(first + i));
  return ids;
}

Status TryCreate(plasma::PlasmaClient& client, const ObjectID& id, int64_t size, Bytes* data,
                 const std::string& metadata = "", bool evict_if_full = true) {
  return client.Create(id, size, reinterpret_cast<const uint8_t*>(metadata.data()),
                       static_cast<int64_t>(metadata.size()), data, 0, evict_if_full);
}

// Creates an object that is released when the result dies. (The buffer that the
// library gives does not do that; those that come from a Get do.)
Bytes Create(plasma::PlasmaClient& client, const ObjectID& id, int64_t size,
             const std::string& metadata = "", bool evict_if_full = true) {
  Bytes data;
  CHECK_OK(TryCreate(client, id, size, &data, metadata, evict_if_full));
  CHECK_EQ(data->size(), size);
  // A copy of a client shares its connection.
  return Bytes(data.get(), [client, data, id](Buffer*) mutable { (void)client.Release(id); });
}

// Creates and seals an object; it stays held as long as the result lives.
Bytes PutHeld(plasma::PlasmaClient& client, const ObjectID& id, int64_t size,
              const std::string& metadata = "") {
  Bytes data = Create(client, id, size, metadata);
  CHECK_OK(client.Seal(id));
  return data;
}

void Put(plasma::PlasmaClient& client, const ObjectID& id, int64_t size,
         const std::string& metadata = "") {
  PutHeld(client, id, size, metadata);
}

void PutText(plasma::PlasmaClient& client, const ObjectID& id, const std::string& text) {
  Bytes data = Create(client, id, static_cast<int64_t>(text.size()));
  memcpy(data->mutable_data(), text.data(), text.size());
  CHECK_OK(client.Seal(id));
}

void PutMany(plasma::PlasmaClient& client, int first, int count, int64_t size) {
  for (const auto& id : Ids(first, count)) Put(client, id, size);
}

bool Contains(plasma::PlasmaClient& client, const ObjectID& id) {
  bool found = false;
  CHECK_OK(client.Contains(id, &found));
  return found;
}

std::vector<ObjectBuffer> GetAll(plasma::PlasmaClient& client, const std::vector<ObjectID>& ids,
                                 int64_t timeout_ms) {
  std::vector<ObjectBuffer> found;
  CHECK_OK(client.Get(ids, timeout_ms, &found));
  CHECK_EQ(found.size(), ids.size());
  return found;
}

ObjectBuffer GetOne(plasma::PlasmaClient& client, const ObjectID& id, int64_t timeout_ms = 0) {
  return GetAll(client, {id}, timeout_ms)[0];
}

std::string Text(const Bytes& buffer) { return buffer->ToString(); }

std::string Repeat(char letter, int64_t count) {
  return std::string(static_cast<size_t>(count), letter);
}

int64_t Evict(plasma::PlasmaClient& client, int64_t bytes) {
  int64_t evicted = -1;
  CHECK_OK(client.Evict(bytes, evicted));
  return evicted;
}

ObjectTable List(plasma::PlasmaClient& client) {
  ObjectTable table;
  CHECK_OK(client.List(&table));
  return table;
}

bool Mentions(plasma::PlasmaClient& client, const std::string& line) {
  const std::string text = "\n" + client.DebugString() + "\n";
  return text.find("\n" + line + "\n") != std::string::npos;
}

// Other connections' hang-ups need not be visible at once in the debug string.
bool MentionsSoon(plasma::PlasmaClient& client, const std::string& line) {
  return WaitFor(std::chrono::seconds(2), [&] { return Mentions(client, line); });
}

// After this the server is done with the earlier requests of all connections, and
// so sees this client's hang-up before whatever the others ask next. Without it
// the order is open: epoll looks first at a connection that it has just reported.
void FinishOthers(plasma::PlasmaClient& client) { List(client); }

struct Notice {
  ObjectID id;
  int64_t data_size;
  int64_t metadata_size;
};

int Subscribe(plasma::PlasmaClient& client) {
  int fd = -1;
  CHECK_OK(client.Subscribe(&fd));
  CHECK(fd >= 0);
  return fd;
}

Notice NextNotice(plasma::PlasmaClient& client, int fd) {
  Notice notice = {};
  CHECK_OK(client.GetNotification(fd, &notice.id, &notice.data_size, &notice.metadata_size));
  return notice;
}

#define CHECK_NOTICE(notice, number, data, metadata) \
  do {                                               \
    const Notice seen = (notice);                    \
    CHECK_EQ(seen.id.hex(), Id(number).hex());       \
    CHECK_EQ(seen.data_size, data);                  \
    CHECK_EQ(seen.metadata_size, metadata);          \
  } while (false)

bool IsQuiet(int fd) {
  pollfd entry = {fd, POLLIN, 0};
  return poll(&entry, 1, 100) == 0;
}

std::string ReadExactly(int fd, size_t count) {
  std::string bytes(count, '\0');
  for (size_t done = 0; done < count;) {
    ssize_t got = read(fd, &bytes[done], count - done);
    CHECK(got > 0);
    done += static_cast<size_t>(got);
  }
  return bytes;
}

// Work in another thread; a failed check there fails the scenario at Finish.
class Background {
 public:
  explicit Background(std::function<void()> work) : task_(std::move(work)) {
    done_ = task_.get_future();
    // Not joined: a scenario that fails must not wait for a client that waits.
    std::thread(std::move(task_)).detach();
  }

  void Finish() {
    CHECK(done_.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    done_.get();
  }

 private:
  std::packaged_task<void()> task_;
  std::future<void> done_;
};

// ---------------------------------------------------------------------------
// Scenario and peer tables

using ScenarioBody = void (*)(Store& store);
using PeerBody = void (*)(const std::string& socket);

template <typename Body>
struct Named {
  std::string name;
  Body body;
};

template <typename Body>
std::vector<Named<Body>>& Table() {
  static std::vector<Named<Body>> table;
  return table;
}

template <typename Body>
struct Registration {
  Registration(const char* name, Body body) { Table<Body>().push_back({name, body}); }
};

#define SCENARIO(name)                                             \
  void name(Store& store);                                         \
  const Registration<ScenarioBody> register_##name(#name, name);   \
  void name([[maybe_unused]] Store& store)

#define PEER(name)                                                 \
  void name(const std::string& socket);                            \
  const Registration<PeerBody> register_##name(#name, name);       \
  void name(const std::string& socket)

pid_t StartPeer(const char* role, const Store& store) {
  return Spawn({"/proc/self/exe", "--peer", role, store.socket}, "");
}

int WaitForPeer(pid_t pid) {
  int status = -1;
  CHECK(WaitForExit(pid, std::chrono::seconds(20), &status));
  return status;
}

void KillPeer(pid_t pid) {
  kill(pid, SIGKILL);
  CHECK_EQ(WTERMSIG(WaitForPeer(pid)), SIGKILL);
}

// ---------------------------------------------------------------------------
// Connecting

SCENARIO(connect_and_disconnect) {
  plasma::PlasmaClient client;
  CHECK_OK(client.Connect(store.socket, "", 0, 5));
  CHECK_EQ(client.store_capacity(), kCapacity);
  CHECK_OK(client.Disconnect());
}

SCENARIO(connect_to_missing_socket_fails) {
  plasma::PlasmaClient client;
  CHECK(client.Connect(store.folder + "/nobody", "", 0, 1).IsIOError());
}

SCENARIO(connect_to_manager_is_refused) {
  plasma::PlasmaClient client;
  CHECK(!client.Connect(store.socket, store.folder + "/manager", 0, 1).ok());
}

SCENARIO(many_clients_in_one_process) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(std::make_unique<Client>(store));
  for (int i = 0; i < 50; ++i) Put(*clients[i], Id(i), i);
  for (int i = 0; i < 50; ++i) {
    CHECK_EQ(GetOne(*clients[49 - i], Id(i)).data->size(), i);
  }
}

SCENARIO(release_after_disconnect_is_ignored) {
  Client client(store);
  Bytes data = PutHeld(client, Id(1), 1000);
  CHECK_OK(client.Disconnect());
  data.reset();
  Client other(store);
  CHECK(Contains(other, Id(1)));
}

SCENARIO(store_capacity_is_the_flag) {
  Store small(store.folder, "small", 10'000);
  Client client(small);
  CHECK_EQ(client.store_capacity(), 10'000);
  small.Stop();
}

SCENARIO(calls_fail_cleanly_after_store_death) {
  Store second(store.folder, "second", kCapacity);
  Client client(second);
  Put(client, Id(1), 100);
  second.Kill();
  bool found = false;
  CHECK(client.Contains(Id(1), &found).IsIOError());
  std::vector<ObjectBuffer> objects;
  CHECK(client.Get({Id(1)}, 1000, &objects).IsIOError());
}

// ---------------------------------------------------------------------------
// Creating, sealing, reading

// GetTest
SCENARIO(get) {
  Client client(store);
  ObjectBuffer absent = GetOne(client, Id(1));
  CHECK(!absent.data);
  CHECK(!absent.metadata);
  CHECK_EQ(absent.device_num, 0);
  CHECK(!IsInUse(client, Id(1)));

  PutText(client, Id(1), "contents");
  CHECK(!IsInUse(client, Id(1)));
  {
    ObjectBuffer object = GetOne(client, Id(1), -1);
    CHECK_EQ(Text(object.data), "contents");
    CHECK_EQ(object.metadata->size(), 0);
    CHECK_EQ(object.device_num, 0);
    CHECK(IsInUse(client, Id(1)));
    object.data.reset();
    // The metadata buffer alone still holds the object.
    CHECK(IsInUse(client, Id(1)));
  }
  CHECK(!IsInUse(client, Id(1)));
}

// LegacyGetTest
SCENARIO(legacy_get_needs_a_release) {
  Client client(store);
  const ObjectID id = Id(1);
  ObjectBuffer object;
  CHECK_OK(client.Get(&id, 1, 0, &object));
  CHECK(!object.data);
  PutText(client, id, "contents");
  {
    ObjectBuffer found;
    CHECK_OK(client.Get(&id, 1, -1, &found));
    CHECK_EQ(Text(found.data), "contents");
  }
  CHECK(IsInUse(client, id));
  CHECK_OK(client.Release(id));
  CHECK(!IsInUse(client, id));
  CHECK_EQ(Evict(client, 1), 8);
}

// MultipleGetTest
SCENARIO(get_several) {
  Client client(store);
  PutText(client, Id(1), "first");
  PutText(client, Id(2), "second");
  auto objects = GetAll(client, {Id(1), Id(2)}, -1);
  CHECK_EQ(Text(objects[0].data), "first");
  CHECK_EQ(Text(objects[1].data), "second");
  objects = GetAll(client, {Id(2), Id(3), Id(1)}, 0);
  CHECK_EQ(Text(objects[0].data), "second");
  CHECK(!objects[1].data);
  CHECK_EQ(Text(objects[2].data), "first");
}

SCENARIO(get_times_out_with_what_is_there) {
  Client client(store);
  PutText(client, Id(1), "present");
  const auto start = Clock::now();
  auto objects = GetAll(client, {Id(1), Id(2)}, 200);
  CHECK(Clock::now() - start >= milliseconds(190));
  CHECK_EQ(Text(objects[0].data), "present");
  CHECK(!objects[1].data);
}

SCENARIO(get_of_own_unsealed_object_is_missing) {
  Client client(store);
  Bytes data = Create(client, Id(1), 10);
  Client reader(store);
  CHECK(!GetOne(reader, Id(1), 0).data);
  CHECK(!GetOne(reader, Id(1), 20).data);
  CHECK_OK(client.Seal(Id(1)));
  CHECK(GetOne(reader, Id(1), 0).data != nullptr);
}

SCENARIO(get_again_while_held) {
  Client client(store);
  PutText(client, Id(1), "one");
  PutText(client, Id(2), "two");
  ObjectBuffer first = GetOne(client, Id(1));
  // One held id and one new: the whole list is asked for again, which must not
  // count the held one twice.
  auto both = GetAll(client, {Id(1), Id(2)}, 0);
  CHECK_EQ(List(client)[Id(1)]->ref_count, 1);
  first = {};
  both.clear();
  CHECK_EQ(List(client)[Id(1)]->ref_count, 0);
  CHECK_EQ(Evict(client, 6), 6);
}

// ContainsTest
SCENARIO(contains) {
  Client client(store);
  Client other(store);
  CHECK(!Contains(other, Id(1)));
  Bytes data = Create(client, Id(1), 100);
  CHECK(!Contains(other, Id(1)));
  CHECK_OK(client.Seal(Id(1)));
  CHECK(Contains(other, Id(1)));
  CHECK(Contains(client, Id(1)));
  CHECK(!Contains(client, Id(2)));
}

// SealErrorsTest
SCENARIO(seal_errors) {
  Client client(store);
  CHECK(plasma::IsPlasmaObjectNotFound(client.Seal(Id(1))));
  Bytes data = PutHeld(client, Id(1), 100);
  CHECK(plasma::IsPlasmaObjectAlreadySealed(client.Seal(Id(1))));
  Client other(store);
  CHECK(plasma::IsPlasmaObjectNotFound(other.Seal(Id(1))));
}

SCENARIO(create_existing_fails) {
  Client client(store);
  Client other(store);
  Bytes data = Create(client, Id(1), 100);
  Bytes again;
  CHECK(plasma::IsPlasmaObjectExists(TryCreate(client, Id(1), 5, &again)));
  CHECK(plasma::IsPlasmaObjectExists(TryCreate(other, Id(1), 5, &again)));
  CHECK_OK(client.Seal(Id(1)));
  CHECK(plasma::IsPlasmaObjectExists(TryCreate(other, Id(1), 5, &again)));
  CHECK(plasma::IsPlasmaObjectExists(other.CreateAndSeal(Id(1), "data", "")));
}

SCENARIO(metadata_round_trip) {
  Client client(store);
  Client reader(store);
  const std::string metadata("\x00\x01meta\xff", 7);
  for (int size : {0, 1, 63, 64, 65, 4096, 100'000}) {
    Bytes data = Create(client, Id(size), size, metadata);
    CHECK(reinterpret_cast<uintptr_t>(data->data()) % 64 == 0);
    memset(data->mutable_data(), 'x', static_cast<size_t>(size));
    CHECK_OK(client.Seal(Id(size)));
    ObjectBuffer object = GetOne(reader, Id(size));
    CHECK(Text(object.data) == Repeat('x', size));
    CHECK(Text(object.metadata) == metadata);
  }
}

SCENARIO(zero_size_objects) {
  Client client(store);
  Client reader(store);
  Put(client, Id(1), 0);
  Put(client, Id(2), 0, "only metadata");
  CHECK_OK(client.CreateAndSeal(Id(3), "", ""));
  auto objects = GetAll(reader, Ids(1, 3), -1);
  for (const auto& object : objects) CHECK_EQ(object.data->size(), 0);
  CHECK_EQ(objects[0].metadata->size(), 0);
  CHECK_EQ(Text(objects[1].metadata), "only metadata");
  CHECK_EQ(objects[2].metadata->size(), 0);
}

SCENARIO(create_and_seal) {
  Client client(store);
  Client reader(store);
  for (int size = 0; size < 300; size += 7) {
    CHECK_OK(client.CreateAndSeal(Id(size), Repeat('d', size), Repeat('m', size / 2)));
    CHECK(!IsInUse(client, Id(size)));
    ObjectBuffer object = GetOne(reader, Id(size));
    CHECK(Text(object.data) == Repeat('d', size));
    CHECK(Text(object.metadata) == Repeat('m', size / 2));
  }
  CHECK(plasma::IsPlasmaStoreFull(client.CreateAndSeal(Id(1), Repeat('x', kCapacity + 1), "")));
  CHECK(!Contains(client, Id(1)));
}

// BatchCreateTest
SCENARIO(batch_of_two) {
  Client client(store);
  Client reader(store);
  CHECK_OK(client.CreateAndSealBatch({Id(1), Id(2)}, {"hello", "world!"}, {"1", "22"}));
  auto objects = GetAll(reader, {Id(1), Id(2)}, -1);
  CHECK_EQ(Text(objects[0].data), "hello");
  CHECK_EQ(Text(objects[0].metadata), "1");
  CHECK_EQ(Text(objects[1].data), "world!");
  CHECK_EQ(Text(objects[1].metadata), "22");
}

SCENARIO(batch_of_hundred) {
  Client client(store);
  Client reader(store);
  std::vector<std::string> data;
  std::vector<std::string> metadata;
  for (int i = 0; i < 100; ++i) {
    data.push_back(Repeat(static_cast<char>('!' + i % 90), i * 11));
    metadata.push_back(std::to_string(i));
  }
  CHECK_OK(client.CreateAndSealBatch(Ids(0, 100), data, metadata));
  auto objects = GetAll(reader, Ids(0, 100), 0);
  for (int i = 0; i < 100; ++i) {
    CHECK(Text(objects[i].data) == data[i]);
    CHECK(Text(objects[i].metadata) == metadata[i]);
  }
}

SCENARIO(batch_fails_as_a_whole) {
  Client client(store);
  PutText(client, Id(2), "already here");
  const std::vector<std::string> two = {"a", "b"};
  CHECK(plasma::IsPlasmaObjectExists(client.CreateAndSealBatch({Id(1), Id(2)}, two, two)));
  CHECK(plasma::IsPlasmaObjectExists(client.CreateAndSealBatch({Id(3), Id(3)}, two, two)));
  const std::vector<std::string> large = {Repeat('x', 6'000'000), Repeat('y', 6'000'000)};
  CHECK(plasma::IsPlasmaStoreFull(
      client.CreateAndSealBatch({Id(4), Id(5)}, large, {"", ""}, false)));
  for (int i : {1, 3, 4, 5}) CHECK(!Contains(client, Id(i)));
  CHECK_EQ(List(client).size(), 1u);
  CHECK_OK(client.CreateAndSealBatch({Id(1), Id(3)}, two, two));
}

SCENARIO(hash) {
  Client client(store);
  auto digest = [&](int number) {
    uint8_t bytes[plasma::kDigestSize];
    CHECK_OK(client.Hash(Id(number), bytes));
    return std::string(reinterpret_cast<char*>(bytes), sizeof(bytes));
  };
  uint8_t unused[plasma::kDigestSize];
  CHECK(plasma::IsPlasmaObjectNotFound(client.Hash(Id(9), unused)));
  PutText(client, Id(1), "same");
  PutText(client, Id(2), "same");
  PutText(client, Id(3), "other");
  CHECK(digest(1) == digest(2));
  CHECK(digest(1) != digest(3));
  CHECK(!IsInUse(client, Id(1)));
}

SCENARIO(list) {
  Client client(store);
  CHECK(List(client).empty());
  Bytes data = Create(client, Id(1), 11, "seven b");
  auto entry = std::move(List(client)[Id(1)]);
  CHECK_EQ(entry->data_size, 11);
  CHECK_EQ(entry->metadata_size, 7);
  CHECK_EQ(entry->ref_count, 1);
  CHECK(entry->state == ObjectState::PLASMA_CREATED);
  CHECK(std::abs(entry->create_time - time(nullptr)) <= 2);

  CHECK_OK(client.Seal(Id(1)));
  Client reader(store);
  ObjectBuffer held = GetOne(reader, Id(1));
  entry = std::move(List(client)[Id(1)]);
  CHECK_EQ(entry->ref_count, 2);
  CHECK(entry->state == ObjectState::PLASMA_SEALED);
  CHECK(entry->construct_duration >= 0 && entry->construct_duration <= 2);

  data.reset();
  held = {};
  CHECK_OK(client.CreateAndSeal(Id(2), "abc", ""));
  // Releases are not acknowledged and come from two connections, so ask the
  // reader too before looking.
  CHECK(Contains(reader, Id(1)));
  ObjectTable table = List(client);
  CHECK_EQ(table.size(), 2u);
  CHECK_EQ(table[Id(1)]->ref_count, 0);
  CHECK_EQ(table[Id(2)]->ref_count, 0);
  CHECK_EQ(table[Id(2)]->data_size, 3);
}

SCENARIO(debug_string) {
  Client client(store);
  CHECK_EQ(client.DebugString(),
           "num clients with quota: 0\n"
           "quota map size: 0\n"
           "pinned quota map size: 0\n"
           "allocated bytes: 0\n"
           "allocation limit: 10000000\n"
           "pinned bytes: 0\n"
           "(global lru) capacity: 10000000\n"
           "(global lru) used: 0%\n"
           "(global lru) num objects: 0\n"
           "(global lru) num evictions: 0\n"
           "(global lru) bytes evicted: 0");
  Put(client, Id(1), 900, Repeat('m', 100));
  Bytes held = PutHeld(client, Id(2), 200);
  CHECK(Mentions(client, "allocated bytes: 1200"));
  CHECK(Mentions(client, "pinned bytes: 200"));
  CHECK(Mentions(client, "(global lru) num objects: 1"));
  CHECK(Mentions(client, "(global lru) used: 0.01%"));
  CHECK_EQ(Evict(client, 1), 1000);
  CHECK(Mentions(client, "(global lru) num evictions: 1"));
  CHECK(Mentions(client, "(global lru) bytes evicted: 1000"));
  CHECK(Mentions(client, "allocated bytes: 200"));
  CHECK_OK(client.SetClientOptions("painter", 1'000'000));
  CHECK(Mentions(client, "num clients with quota: 1"));
  CHECK(Mentions(client, "(global lru) capacity: 9000000"));
  CHECK(Mentions(client, "(painter) capacity: 1000000"));
  CHECK(Mentions(client, "(painter) used: 0%"));
  CHECK(Mentions(client, "(painter) num objects: 0"));
}

// ---------------------------------------------------------------------------
// Aborting and deleting

// AbortTest
SCENARIO(abort_object) {
  Client client(store);
  Bytes data = Create(client, Id(1), 4, "meta");
  memcpy(data->mutable_data(), "four", 4);
  CHECK(client.Abort(Id(1)).IsInvalid());
  data.reset();
  CHECK_OK(client.Abort(Id(1)));
  CHECK(!IsInUse(client, Id(1)));
  CHECK(!Contains(client, Id(1)));
  CHECK(!GetOne(client, Id(1)).data);
  CHECK(List(client).empty());

  // Another size and other metadata under the same id.
  data = Create(client, Id(1), 6, "m");
  memcpy(data->mutable_data(), "sixsix", 6);
  CHECK_OK(client.Seal(Id(1)));
  data.reset();
  ObjectBuffer object = GetOne(client, Id(1));
  CHECK_EQ(Text(object.data), "sixsix");
  CHECK_EQ(Text(object.metadata), "m");
}

// OneIdCreateRepeatedlyTest
SCENARIO(one_id_many_times) {
  Client client(store);
  for (int round = 0; round < 5; ++round) {
    Create(client, Id(1), 100 + round).reset();
    CHECK_OK(client.Abort(Id(1)));
    CHECK(!Contains(client, Id(1)));
  }
  for (int round = 0; round < 5; ++round) {
    Put(client, Id(1), 200 + round);
    CHECK(Contains(client, Id(1)));
    CHECK_OK(client.Delete(Id(1)));
    CHECK(!Contains(client, Id(1)));
  }
}

SCENARIO(aborted_memory_is_free_again) {
  Client client(store);
  for (int round = 0; round < 10; ++round) {
    Create(client, Id(round), kCapacity).reset();
    CHECK_OK(client.Abort(Id(round)));
  }
  CHECK(Mentions(client, "allocated bytes: 0"));
}

// DeleteTest
SCENARIO(delete_object) {
  Client client(store);
  CHECK_OK(client.Delete(Id(1)));
  Bytes data = PutHeld(client, Id(1), 100);
  CHECK_OK(client.Delete(Id(1)));
  CHECK(Contains(client, Id(1)));
  data.reset();
  CHECK(!Contains(client, Id(1)));
  CHECK(List(client).empty());
}

// DeleteObjectsTest
SCENARIO(delete_while_another_client_holds) {
  Client client(store);
  Client reader(store);
  CHECK_OK(client.Delete(Ids(1, 2)));
  PutMany(client, 1, 2, 100);
  auto held = GetAll(reader, Ids(1, 2), -1);
  CHECK_OK(client.Delete(Ids(1, 2)));
  CHECK(Contains(client, Id(1)));
  CHECK(Contains(client, Id(2)));
  Bytes again;
  CHECK(plasma::IsPlasmaObjectExists(TryCreate(client, Id(1), 5, &again)));
  held.clear();
  CHECK_OK(reader.Delete(Ids(1, 2)));
  CHECK(!Contains(reader, Id(1)));
  CHECK(!Contains(client, Id(1)));
  CHECK(!Contains(client, Id(2)));
}

SCENARIO(pending_delete_happens_at_disconnect) {
  Client client(store);
  Put(client, Id(1), 100);
  {
    Client reader(store);
    ObjectBuffer held = GetOne(reader, Id(1));
    CHECK_OK(client.Delete(Id(1)));
    CHECK(Contains(client, Id(1)));
    FinishOthers(reader);
    CHECK_OK(reader.Disconnect());
  }
  CHECK(!Contains(client, Id(1)));
}

SCENARIO(replace_by_delete_and_create) {
  Client client(store);
  Client reader(store);
  for (int round = 0; round < 200; ++round) {
    CHECK_OK(client.Delete(Id(1)));
    PutText(client, Id(1), std::to_string(round));
    CHECK_EQ(Text(GetOne(reader, Id(1), -1).data), std::to_string(round));
    // The reader's release has no reply; this call follows it.
    CHECK(Contains(reader, Id(1)));
  }
  CHECK_EQ(List(client).size(), 1u);
}

// ---------------------------------------------------------------------------
// Several clients

// MultipleClientTest
SCENARIO(objects_are_shared_between_clients) {
  Client client(store);
  PutText(client, Id(1), "from the first");
  {
    Client second(store);
    CHECK_EQ(Text(GetOne(second, Id(1), -1).data), "from the first");
    PutText(second, Id(2), "from the second");
  }
  CHECK(Contains(client, Id(2)));
  Bytes unsealed = Create(client, Id(3), 5);
  { Client third(store); }
  memcpy(unsealed->mutable_data(), "third", 5);
  CHECK_OK(client.Seal(Id(3)));
  Client fourth(store);
  CHECK_EQ(Text(GetOne(fourth, Id(3)).data), "third");
}

void CreateInThirds(plasma::PlasmaClient& client, int count) {
  for (int i = 0; i < count; ++i) {
    Bytes data = Create(client, Id(i), 10 + i);
    if (i % 3 == 0) CHECK_OK(client.Seal(Id(i)));
    data.reset();
    if (i % 3 == 1) CHECK_OK(client.Abort(Id(i)));
  }
}

// ManyObjectTest. The look at the store follows the hang-up without a pause:
// the server must have dealt with a hang-up before any request that came later.
SCENARIO(many_objects_and_a_disconnect) {
  Client observer(store);
  for (int round = 0; round < 20; ++round) {
    Client creator(store);
    CreateInThirds(creator, 100);
    CHECK_OK(creator.Disconnect());
    for (int i = 0; i < 100; ++i) CHECK_EQ(Contains(observer, Id(i)), i % 3 == 0);
    CHECK_OK(observer.Delete(Ids(0, 100)));
    CHECK(List(observer).empty());
  }
}

SCENARIO(hang_up_is_seen_by_the_next_request) {
  Client observer(store);
  for (int round = 0; round < 100; ++round) {
    Client creator(store);
    Bytes whole = Create(creator, Id(1), kCapacity);
    CHECK_OK(creator.Disconnect());
    CHECK_EQ(List(observer).size(), 0u);
  }
}

SCENARIO(hang_up_frees_memory_for_the_next_create) {
  Client observer(store);
  for (int round = 0; round < 100; ++round) {
    Client creator(store);
    Bytes whole = Create(creator, Id(1), kCapacity);
    CHECK_OK(creator.Disconnect());
    Bytes next = Create(observer, Id(1), kCapacity);
    next.reset();
    CHECK_OK(observer.Abort(Id(1)));
  }
}

SCENARIO(get_waits_for_another_client) {
  Background waiter([&store] {
    Client reader(store);
    auto objects = GetAll(reader, Ids(0, 10), -1);
    for (int i = 0; i < 10; ++i) CHECK_EQ(Text(objects[i].data), std::to_string(i));
  });
  Client client(store);
  std::this_thread::sleep_for(milliseconds(50));
  for (int i = 9; i >= 0; --i) PutText(client, Id(i), std::to_string(i));
  waiter.Finish();
}

SCENARIO(many_clients_wait_for_one_object) {
  std::vector<Background> waiters;
  for (int i = 0; i < 20; ++i) {
    waiters.emplace_back([&store] {
      Client reader(store);
      CHECK_EQ(Text(GetOne(reader, Id(1), -1).data), "awaited");
    });
  }
  std::this_thread::sleep_for(milliseconds(50));
  Client client(store);
  PutText(client, Id(1), "awaited");
  for (auto& waiter : waiters) waiter.Finish();
}

SCENARIO(waiting_get_survives_an_abort) {
  Background waiter([&store] {
    Client reader(store);
    CHECK_EQ(Text(GetOne(reader, Id(1), -1).data), "second try");
  });
  Client client(store);
  std::this_thread::sleep_for(milliseconds(50));
  Create(client, Id(1), 100).reset();
  CHECK_OK(client.Abort(Id(1)));
  PutText(client, Id(1), "second try");
  waiter.Finish();
}

SCENARIO(waiting_get_pins_what_it_has) {
  Background waiter([&store] {
    Client reader(store);
    auto objects = GetAll(reader, Ids(1, 2), -1);
    CHECK_EQ(Text(objects[0].data), "early");
    CHECK_EQ(Text(objects[1].data), "late");
  });
  Client client(store);
  std::this_thread::sleep_for(milliseconds(100));
  PutText(client, Id(1), "early");
  CHECK(WaitFor(std::chrono::seconds(5), [&] { return List(client)[Id(1)]->ref_count == 1; }));
  CHECK_EQ(Evict(client, kCapacity), 0);
  PutText(client, Id(2), "late");
  waiter.Finish();
}

void WorkThrough(const Store& store, int worker) {
  Client client(store);
  for (int i = 0; i < 300; ++i) {
    const ObjectID id = Id(worker * 1000 + i);
    PutText(client, id, std::to_string(i));
    CHECK_EQ(Text(GetOne(client, id, -1).data), std::to_string(i));
    CHECK_OK(client.Delete(id));
  }
}

SCENARIO(threads_with_their_own_clients) {
  std::vector<Background> workers;
  for (int i = 0; i < 8; ++i) workers.emplace_back([&store, i] { WorkThrough(store, i); });
  for (auto& worker : workers) worker.Finish();
  Client client(store);
  CHECK(List(client).empty());
}

// ---------------------------------------------------------------------------
// Several processes

PEER(answer_each_question) {
  Client client(socket);
  for (int i = 0; i < 20; ++i) {
    std::string question = Text(GetOne(client, Id(i), -1).data);
    PutText(client, Id(1000 + i), "answer to " + question);
  }
}

SCENARIO(process_answers_questions) {
  pid_t peer = StartPeer("answer_each_question", store);
  Client client(store);
  for (int i = 0; i < 20; ++i) {
    PutText(client, Id(i), "question " + std::to_string(i));
    CHECK_EQ(Text(GetOne(client, Id(1000 + i), 20'000).data),
             "answer to question " + std::to_string(i));
  }
  CHECK_EQ(WaitForPeer(peer), 0);
}

PEER(produce_and_leave) {
  Client client(socket);
  Bytes data = Create(client, Id(1), 1'000'000, "made elsewhere");
  memset(data->mutable_data(), 'p', 1'000'000);
  CHECK_OK(client.Seal(Id(1)));
}

SCENARIO(object_outlives_the_process_that_made_it) {
  CHECK_EQ(WaitForPeer(StartPeer("produce_and_leave", store)), 0);
  Client client(store);
  ObjectBuffer object = GetOne(client, Id(1));
  CHECK(Text(object.data) == Repeat('p', 1'000'000));
  CHECK_EQ(Text(object.metadata), "made elsewhere");
}

PEER(wait_for_ever) {
  Client client(socket);
  PutText(client, Id(1), "I am waiting");
  GetOne(client, Id(2), -1);
}

SCENARIO(process_killed_while_waiting) {
  pid_t peer = StartPeer("wait_for_ever", store);
  Client client(store);
  CHECK(GetOne(client, Id(1), 20'000).data != nullptr);
  std::this_thread::sleep_for(milliseconds(50));
  KillPeer(peer);
  PutText(client, Id(2), "too late");
  CHECK_EQ(Text(GetOne(client, Id(2)).data), "too late");
  CHECK_EQ(List(client)[Id(2)]->ref_count, 0);
}

PEER(hold_and_stall) {
  Client client(socket);
  Bytes unsealed = Create(client, Id(1), 4'000'000);
  Bytes sealed = PutHeld(client, Id(2), 4'000'000);
  PutText(client, Id(3), "both made");
  pause();
}

SCENARIO(process_killed_while_holding) {
  pid_t peer = StartPeer("hold_and_stall", store);
  Client client(store);
  CHECK(GetOne(client, Id(3), 20'000).data != nullptr);
  CHECK(Contains(client, Id(2)));
  Bytes data;
  CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(4), 4'000'000, &data)));
  KillPeer(peer);
  // The unsealed object went with its creator, the sealed one did not.
  CHECK(!Contains(client, Id(1)));
  CHECK(Contains(client, Id(2)));
  Put(client, Id(1), kCapacity);
}

// ---------------------------------------------------------------------------
// A full store and eviction

SCENARIO(exactly_full_store) {
  Client client(store);
  Bytes whole = PutHeld(client, Id(1), kCapacity);
  memset(whole->mutable_data(), 'w', static_cast<size_t>(kCapacity));
  Bytes more;
  CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(2), 1, &more)));
  Put(client, Id(3), 0);
  CHECK(Mentions(client, "allocated bytes: 10000000"));
  whole.reset();
  Put(client, Id(4), kCapacity - 8, "metadata");
  CHECK(!Contains(client, Id(1)));
  CHECK(Contains(client, Id(4)));
  Bytes parts[10];
  for (int i = 0; i < 10; ++i) parts[i] = PutHeld(client, Id(10 + i), kCapacity / 10);
  CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(2), 1, &more)));
}

SCENARIO(too_large_fails_and_leaves_no_trace) {
  Client client(store);
  Bytes data;
  for (int round = 0; round < 3; ++round) {
    CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(1), kCapacity + 1, &data)));
    CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(1), kCapacity, &data, "m")));
  }
  CHECK(List(client).empty());
  Put(client, Id(1), kCapacity);
}

SCENARIO(no_eviction_on_request) {
  Client client(store);
  Put(client, Id(1), 6'000'000);
  Bytes data;
  CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(2), 6'000'000, &data, "", false)));
  CHECK(plasma::IsPlasmaStoreFull(
      client.CreateAndSeal(Id(2), Repeat('x', 6'000'000), "", false)));
  CHECK(Contains(client, Id(1)));
  Create(client, Id(3), 4'000'000, "", false).reset();
  CHECK(Contains(client, Id(1)));
  CHECK_OK(client.Abort(Id(3)));
  Put(client, Id(2), 6'000'000);
  CHECK(!Contains(client, Id(1)));
}

SCENARIO(evict) {
  Client client(store);
  CHECK_EQ(Evict(client, 1), 0);
  Put(client, Id(1), 1000);
  CHECK_EQ(Evict(client, 1), 1000);
  CHECK(!Contains(client, Id(1)));

  Bytes held = PutHeld(client, Id(2), 999);
  Put(client, Id(3), 990, "metadata");
  CHECK_EQ(Evict(client, 1000), 998);
  CHECK_EQ(Evict(client, 1000), 0);
  held.reset();
  CHECK_EQ(Evict(client, 1), 999);

  for (int size : {996, 995, 994}) Put(client, Id(size), size);
  CHECK_EQ(Evict(client, 2000), 996 + 995 + 994);
}

SCENARIO(eviction_follows_the_order_of_release) {
  constexpr int kCount = 200;
  Client client(store);
  std::vector<Bytes> held;
  for (int i = 0; i < kCount; ++i) held.push_back(PutHeld(client, Id(i), 1000 + i));
  // 37 and 200 have no common factor, so this visits each object once.
  for (int i = 0; i < kCount; ++i) held[i * 37 % kCount].reset();
  // Looking at an object does not count as a use, but a Get does.
  CHECK(Contains(client, Id(0)));
  CHECK(GetOne(client, Id(37)).data != nullptr);
  for (int i = 0; i < kCount; ++i) {
    if (i == 1) continue;
    CHECK_EQ(Evict(client, 1), 1000 + i * 37 % kCount);
  }
  CHECK_EQ(Evict(client, 1), 1037);
  CHECK(List(client).empty());
}

SCENARIO(held_objects_are_never_evicted) {
  Client client(store);
  Client reader(store);
  PutText(client, Id(1), "precious");
  ObjectBuffer held = GetOne(reader, Id(1));
  PutMany(client, 100, 50, 1'000'000);
  CHECK(Contains(client, Id(1)));
  CHECK_EQ(Text(held.data), "precious");
  Bytes data;
  CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(2), kCapacity, &data)));
  held = {};
  CHECK(Contains(reader, Id(1)));
  Put(client, Id(2), kCapacity);
  CHECK(!Contains(client, Id(1)));
}

// Mixed sizes leave holes in the memory; whatever the server does about them,
// what is there keeps its contents and the accounting stays exact.
SCENARIO(mixed_sizes_keep_their_contents) {
  Client client(store);
  std::mt19937 random(20);
  std::map<int, std::string> expected;
  int64_t used = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text = Repeat(static_cast<char>('a' + i % 26), random() % 900'000);
    while (used + static_cast<int64_t>(text.size()) > kCapacity) {
      auto victim = std::next(expected.begin(), random() % expected.size());
      used -= static_cast<int64_t>(victim->second.size());
      CHECK_OK(client.Delete(Id(victim->first)));
      expected.erase(victim);
    }
    PutText(client, Id(i), text);
    used += static_cast<int64_t>(text.size());
    expected[i] = std::move(text);
  }
  CHECK_EQ(List(client).size(), expected.size());
  CHECK(Mentions(client, "allocated bytes: " + std::to_string(used)));
  CHECK(Mentions(client, "(global lru) num evictions: 0"));
  for (const auto& [number, text] : expected) {
    CHECK(Text(GetOne(client, Id(number)).data) == text);
  }
}

// A full store frees a fifth of its capacity at least, or what is needed.
SCENARIO(eviction_amounts) {
  Client client(store);
  PutMany(client, 1, 3, 3'000'000);
  Put(client, Id(4), 1'500'000);
  CHECK(!Contains(client, Id(1)));
  CHECK(Contains(client, Id(2)));
  CHECK(Contains(client, Id(3)));
  CHECK(Contains(client, Id(4)));
  CHECK(Mentions(client, "(global lru) num evictions: 1"));
  CHECK(Mentions(client, "(global lru) bytes evicted: 3000000"));
}

// RefreshLRUTest
SCENARIO(refresh) {
  Client client(store);
  PutMany(client, 1, 10, 1'000'000);
  for (const auto& id : Ids(1, 10)) CHECK(Contains(client, id));
  Put(client, Id(11), 1'000'000);
  CHECK(!Contains(client, Id(1)));
  CHECK(!Contains(client, Id(2)));
  for (const auto& id : Ids(3, 9)) CHECK(Contains(client, id));

  CHECK_OK(client.Refresh({Id(3), Id(4), Id(999)}));
  PutMany(client, 12, 2, 1'000'000);
  CHECK(Contains(client, Id(3)));
  CHECK(Contains(client, Id(4)));
  CHECK(!Contains(client, Id(5)));
}

// EvictionTest of the external store
SCENARIO(eviction_to_an_external_store) {
  Store spilling(store.folder, "spilling", 1'024'000, {"-e", "hashtable://test"});
  Client client(spilling);
  auto contents = [](int i) { return Repeat(static_cast<char>('a' + i), 102'400); };
  for (int i = 0; i < 20; ++i) {
    PutText(client, Id(i), contents(i));
    CHECK(Contains(client, Id(i)));
  }
  for (int i = 0; i < 20; ++i) {
    ObjectBuffer object = GetOne(client, Id(i), -1);
    CHECK(Text(object.data) == contents(i));
    CHECK_EQ(object.device_num, 0);
  }
  ObjectBuffer absent = GetOne(client, Id(99), 100);
  CHECK(!absent.data);
  CHECK_EQ(absent.device_num, 0);
  spilling.Stop();
}

// ---------------------------------------------------------------------------
// Notifications

// NewSubscriberTest
SCENARIO(new_subscriber_hears_of_old_objects) {
  Client client(store);
  Bytes unsealed = Create(client, Id(2), 7);
  Put(client, Id(1), 100, "1");
  Client subscriber(store);
  int fd = Subscribe(subscriber);
  CHECK_NOTICE(NextNotice(subscriber, fd), 1, 100, 1);
  CHECK(IsQuiet(fd));
  CHECK_OK(client.Delete(Id(1)));
  CHECK_NOTICE(NextNotice(subscriber, fd), 1, -1, -1);
  close(fd);
}

// BatchNotificationTest
SCENARIO(batch_notification) {
  Client client(store);
  Client subscriber(store);
  int fd = Subscribe(subscriber);
  CHECK_OK(client.CreateAndSealBatch({Id(1), Id(2)}, {"hello", "world!"}, {"1", "22"}));
  CHECK_NOTICE(NextNotice(subscriber, fd), 1, 5, 1);
  CHECK_NOTICE(NextNotice(subscriber, fd), 2, 6, 2);
  close(fd);
}

SCENARIO(notifications_in_order) {
  Client client(store);
  int fd = Subscribe(client);
  PutMany(client, 0, 1000, 100);
  CHECK_OK(client.Delete(Ids(0, 1000)));
  for (int i = 0; i < 1000; ++i) CHECK_NOTICE(NextNotice(client, fd), i, 100, 0);
  for (int i = 0; i < 1000; ++i) CHECK_NOTICE(NextNotice(client, fd), i, -1, -1);
  CHECK(IsQuiet(fd));
  close(fd);
}

SCENARIO(no_notification_without_a_sealed_object) {
  Client client(store);
  int fd = Subscribe(client);
  Create(client, Id(1), 100).reset();
  CHECK_OK(client.Abort(Id(1)));
  {
    Client other(store);
    Bytes unsealed = Create(other, Id(2), 100);
    CHECK_OK(other.Disconnect());
  }
  CHECK(List(client).empty());
  CHECK(IsQuiet(fd));
  close(fd);
}

SCENARIO(eviction_is_notified) {
  Client client(store);
  int fd = Subscribe(client);
  PutMany(client, 1, 11, 1'000'000);
  for (int i = 1; i <= 10; ++i) CHECK_NOTICE(NextNotice(client, fd), i, 1'000'000, 0);
  CHECK_NOTICE(NextNotice(client, fd), 1, -1, -1);
  CHECK_NOTICE(NextNotice(client, fd), 2, -1, -1);
  CHECK_NOTICE(NextNotice(client, fd), 11, 1'000'000, 0);
  close(fd);
}

SCENARIO(several_subscribers_see_the_same) {
  Client client(store);
  Client first(store);
  Client second(store);
  int first_fd = Subscribe(first);
  int second_fd = Subscribe(second);
  // A subscription has no reply; a call that has one follows it.
  CHECK(List(first).empty());
  CHECK(List(second).empty());
  for (int i = 0; i < 50; ++i) CHECK_OK(client.CreateAndSeal(Id(i), Repeat('x', i), "m"));
  FinishOthers(second);
  CHECK_OK(second.Disconnect());
  CHECK_OK(client.Delete(Id(7)));
  for (int i = 0; i < 50; ++i) {
    CHECK_NOTICE(NextNotice(first, first_fd), i, i, 1);
    CHECK_NOTICE(NextNotice(second, second_fd), i, i, 1);
  }
  CHECK_NOTICE(NextNotice(first, first_fd), 7, -1, -1);
  // The subscription ends with the connection.
  char byte;
  CHECK_EQ(read(second_fd, &byte, 1), 0);
  close(first_fd);
  close(second_fd);
}

std::string NextFrame(int fd) {
  int64_t length = 0;
  const std::string head = ReadExactly(fd, sizeof(length));
  memcpy(&length, head.data(), sizeof(length));
  CHECK(length > 0 && length < 1'000'000);
  return ReadExactly(fd, static_cast<size_t>(length));
}

SCENARIO(decode_notifications) {
  Client client(store);
  int fd = Subscribe(client);
  CHECK_OK(client.CreateAndSealBatch(Ids(0, 100), std::vector<std::string>(100, "data!"),
                                     std::vector<std::string>(100, "meta")));
  CHECK_OK(client.Delete(Id(3)));
  std::vector<ObjectID> ids;
  std::vector<int64_t> data_sizes;
  std::vector<int64_t> metadata_sizes;
  auto decode = [&](const std::string& frame) {
    ids.clear();
    data_sizes.clear();
    metadata_sizes.clear();
    CHECK_OK(client.DecodeNotifications(reinterpret_cast<const uint8_t*>(frame.data()), &ids,
                                        &data_sizes, &metadata_sizes));
  };
  // A batch is one frame.
  decode(NextFrame(fd));
  CHECK(ids == Ids(0, 100));
  CHECK(data_sizes == std::vector<int64_t>(100, 5));
  CHECK(metadata_sizes == std::vector<int64_t>(100, 4));
  decode(NextFrame(fd));
  CHECK(ids == std::vector<ObjectID>{Id(3)});
  CHECK(data_sizes == std::vector<int64_t>{-1});
  CHECK(metadata_sizes == std::vector<int64_t>{-1});
  close(fd);
}

// ---------------------------------------------------------------------------
// Client quotas

// SetQuotaBasicTest
SCENARIO(quota_basic) {
  Client client(store);
  CHECK_OK(client.SetClientOptions("client", 5 * kMiB));
  Put(client, Id(1), 3 * kMiB);
  CHECK(Contains(client, Id(1)));
  Put(client, Id(2), 3 * kMiB);
  CHECK(!Contains(client, Id(1)));
  CHECK(Contains(client, Id(2)));
  Bytes data;
  CHECK(plasma::IsPlasmaStoreFull(TryCreate(client, Id(3), 7 * kMiB, &data)));
  CHECK(Contains(client, Id(2)));
  Put(client, Id(4), 4 * kMiB);
  CHECK(Contains(client, Id(4)));
  CHECK(!Contains(client, Id(2)));
}

// SetQuotaProvidesIsolationFromOtherClients, the half without a quota
SCENARIO(without_quota_others_evict) {
  Client client(store);
  Client pusher(store);
  Put(client, Id(1), 3 * kMiB);
  PutMany(pusher, 100, 10, 3 * kMiB);
  CHECK(!Contains(client, Id(1)));
}

// SetQuotaProvidesIsolationFromOtherClients, the half with a quota
SCENARIO(quota_isolates_from_others) {
  Client client(store);
  Client pusher(store);
  CHECK_OK(client.SetClientOptions("client", 5 * kMiB));
  Put(client, Id(1), 3 * kMiB);
  PutMany(pusher, 100, 10, 3 * kMiB);
  CHECK(Contains(client, Id(1)));
  // Not even an explicit wish reaches into the quota.
  CHECK(Evict(pusher, kCapacity) > 0);
  CHECK(Contains(client, Id(1)));
}

// SetQuotaProtectsOtherClients
SCENARIO(quota_protects_others) {
  Client client(store);
  Client pusher(store);
  Put(client, Id(1), 3 * kMiB);
  CHECK_OK(pusher.SetClientOptions("pusher", 5 * kMiB));
  PutMany(pusher, 100, 10, 3 * kMiB);
  CHECK(Contains(client, Id(1)));
  CHECK(Contains(pusher, Id(109)));
  CHECK(!Contains(pusher, Id(108)));
}

// SetQuotaCannotExceedSeventyPercentMemory
SCENARIO(quota_limit) {
  Client client(store);
  CHECK(!client.SetClientOptions("client", 8 * kMiB).ok());
  CHECK_OK(client.SetClientOptions("client", 5 * kMiB));
  // A quota is set once.
  CHECK(!client.SetClientOptions("client", 5 * kMiB).ok());
  Client other(store);
  CHECK(!other.SetClientOptions("other", 3 * kMiB).ok());
  CHECK_OK(other.SetClientOptions("other", 1 * kMiB));
}

SCENARIO(quota_of_exactly_seventy_percent) {
  Client client(store);
  CHECK(!client.SetClientOptions("client", 7'000'001).ok());
  CHECK_OK(client.SetClientOptions("client", 7'000'000));
  CHECK_OK(client.Disconnect());
  // What a closed connection had reserved can be reserved again.
  Client next(store);
  CHECK_OK(next.SetClientOptions("next", 7'000'000));
}

// SetQuotaDemotesPinnedObjectsToGlobalLRU
SCENARIO(quota_demotes_held_objects) {
  Client client(store);
  Client pusher(store);
  CHECK_OK(client.SetClientOptions("client", 5 * kMiB));
  Bytes first = PutHeld(client, Id(1), 3 * kMiB);
  Bytes second = PutHeld(client, Id(2), 3 * kMiB);
  CHECK(Contains(client, Id(1)));
  CHECK(Contains(client, Id(2)));
  first.reset();
  second.reset();
  CHECK(Contains(client, Id(1)));
  CHECK(Contains(client, Id(2)));
  PutMany(pusher, 100, 10, 3 * kMiB);
  CHECK(!Contains(client, Id(1)));
  CHECK(Contains(client, Id(2)));
}

// SetQuotaDemoteDisconnectToGlobalLRU
SCENARIO(quota_ends_with_the_connection) {
  Client client(store);
  Client pusher(store);
  CHECK_OK(client.SetClientOptions("client", 5 * kMiB));
  Put(client, Id(1), 3 * kMiB);
  PutMany(pusher, 100, 10, 3 * kMiB);
  CHECK(Contains(client, Id(1)));
  CHECK_OK(client.Disconnect());
  CHECK(Contains(pusher, Id(1)));
  PutMany(pusher, 200, 10, 3 * kMiB);
  CHECK(!Contains(pusher, Id(1)));
}

// SetQuotaCleanupObjectMetadata
SCENARIO(quota_bookkeeping_of_deleted_objects) {
  Client observer(store);
  Client client(store);
  CHECK_OK(client.SetClientOptions("local", 5 * kMiB));
  Bytes demoted = PutHeld(client, Id(1), 3 * kMiB);
  Bytes held = PutHeld(client, Id(2), 3 * kMiB);
  Put(client, Id(3), 100);
  CHECK(Mentions(client, "num clients with quota: 1"));
  CHECK(Mentions(client, "quota map size: 2"));
  CHECK(Mentions(client, "pinned quota map size: 1"));
  CHECK(Mentions(client, "(global lru) num objects: 0"));
  CHECK(Mentions(client, "(local) num objects: 2"));

  demoted.reset();
  CHECK(Mentions(client, "(global lru) num objects: 1"));

  held.reset();
  CHECK_OK(client.Delete(Ids(1, 3)));
  CHECK(Mentions(client, "quota map size: 0"));
  CHECK(Mentions(client, "pinned quota map size: 0"));
  CHECK(Mentions(client, "(global lru) num objects: 0"));
  CHECK(Mentions(client, "(local) num objects: 0"));

  CHECK_OK(client.Disconnect());
  CHECK(MentionsSoon(observer, "num clients with quota: 0"));
  CHECK(MentionsSoon(observer, "(global lru) capacity: 10000000"));
  CHECK(MentionsSoon(observer, "(global lru) used: 0%"));
}

// SetQuotaCleanupClientDisconnect
SCENARIO(quota_bookkeeping_after_disconnect) {
  Client observer(store);
  Client client(store);
  CHECK_OK(client.SetClientOptions("local", 5 * kMiB));
  Put(client, Id(1), 2 * kMiB, "12345");
  Bytes held = PutHeld(client, Id(2), 2 * kMiB, "12345");
  Put(client, Id(3), 2 * kMiB, "12345");
  CHECK(!Contains(client, Id(1)));
  CHECK_OK(client.Disconnect());
  CHECK(MentionsSoon(observer, "num clients with quota: 0"));
  CHECK(MentionsSoon(observer, "quota map size: 0"));
  CHECK(MentionsSoon(observer, "pinned quota map size: 0"));
  CHECK(MentionsSoon(observer, "(global lru) num objects: 2"));
  CHECK(MentionsSoon(observer, "(global lru) capacity: 10000000"));
  CHECK(MentionsSoon(observer, "(global lru) used: 41.9431%"));
}

SCENARIO(quota_order_follows_refresh) {
  Client client(store);
  CHECK_OK(client.SetClientOptions("client", 3'000'000));
  PutMany(client, 1, 3, 1'000'000);
  // A Get does not count here, a refresh does.
  CHECK(GetOne(client, Id(2)).data != nullptr);
  CHECK_OK(client.Refresh({Id(1)}));
  Put(client, Id(4), 1'000'000);
  CHECK(Contains(client, Id(1)));
  CHECK(!Contains(client, Id(2)));
  CHECK(Contains(client, Id(3)));
}

SCENARIO(quota_leaves_older_objects_alone) {
  Client client(store);
  Put(client, Id(1), 1'000'000);
  CHECK_OK(client.SetClientOptions("client", 2'000'000));
  PutMany(client, 2, 3, 1'000'000);
  // Number 1 came before the quota and does not count in it.
  CHECK(Contains(client, Id(1)));
  CHECK(!Contains(client, Id(2)));
  CHECK_EQ(Evict(client, kCapacity), 1'000'000);
  CHECK(!Contains(client, Id(1)));
  CHECK(Contains(client, Id(3)));
}

// ---------------------------------------------------------------------------
// Running

int RunPeer(const std::string& role, const std::string& socket) {
  alarm(kScenarioSeconds);
  for (const auto& peer : Table<PeerBody>()) {
    if (peer.name != role) continue;
    try {
      peer.body(socket);
      return 0;
    } catch (const CheckFailed& failure) {
      std::cerr << "peer " << role << ": " << failure.what() << std::endl;
    }
  }
  return 1;
}

// The scenario's own process: a complaint goes through the pipe.
[[noreturn]] void RunBody(ScenarioBody body, Store& store, int complaints) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kScenarioSeconds);
  // The client library writes without MSG_NOSIGNAL.
  signal(SIGPIPE, SIG_IGN);
  try {
    body(store);
  } catch (const std::exception& failure) {
    const std::string text = failure.what();
    (void)!write(complaints, text.data(), text.size());
    _exit(1);
  }
  _exit(0);
}

std::string ReadAll(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t got; (got = read(fd, chunk, sizeof(chunk))) > 0;) {
    text.append(chunk, static_cast<size_t>(got));
  }
  return text;
}

void RunInOwnProcess(ScenarioBody body, Store& store) {
  int complaints[2];
  CHECK_EQ(pipe2(complaints, O_CLOEXEC), 0);
  pid_t child = fork();
  if (child == 0) RunBody(body, store, complaints[1]);
  close(complaints[1]);
  const std::string text = ReadAll(complaints[0]);
  close(complaints[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status == 0) return;
  if (!text.empty()) throw CheckFailed(text);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    throw CheckFailed("not finished after " + std::to_string(kScenarioSeconds) + " s");
  }
  throw CheckFailed("the client process ended with " + DescribeStatus(status));
}

std::string MakeFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "walkthrough-XXXXXX").string();
  CHECK(mkdtemp(path.data()) != nullptr);
  return path;
}

bool RunScenario(const Named<ScenarioBody>& scenario) {
  std::string failure;
  std::string log;
  const std::string folder = MakeFolder();
  try {
    Store store(folder, "store", kCapacity);
    try {
      RunInOwnProcess(scenario.body, store);
      store.Stop();
    } catch (const CheckFailed&) {
      log = store.Log();
      throw;
    }
  } catch (const CheckFailed& complaint) {
    failure = complaint.what();
  }
  std::filesystem::remove_all(folder);
  if (failure.empty()) {
    std::cout << "ok " << scenario.name << std::endl;
  } else {
    std::cout << "FAILED " << scenario.name << ": " << failure << std::endl;
    std::cerr << "last words of the store of " << scenario.name << ":\n" << log << std::endl;
  }
  return failure.empty();
}

bool RunNamed(const std::vector<std::string>& names) {
  bool all_ok = true;
  for (const auto& name : names) {
    bool known = false;
    for (const auto& scenario : Table<ScenarioBody>()) {
      if (scenario.name != name) continue;
      known = true;
      all_ok = RunScenario(scenario) && all_ok;
    }
    if (!known) std::cout << "FAILED " << name << ": no such scenario" << std::endl;
    all_ok = all_ok && known;
  }
  return all_ok;
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const auto& scenario : Table<ScenarioBody>()) names.push_back(scenario.name);
  return names;
}

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "--peer") return RunPeer(words[1], words[2]);
  if (words.size() == 1 && words[0] == "--list") {
    for (const auto& name : AllNames()) std::cout << name << "\n";
    return 0;
  }
  if (!words.empty() && words[0] == "--repeat-sigterm") {
    repeat_sigterm = true;
    words.erase(words.begin());
  }
  if (words.empty() || words[0].rfind("--", 0) == 0) {
    std::cerr << "usage: walkthrough [--repeat-sigterm] SERVER [NAME...] | walkthrough --list"
              << std::endl;
    return 2;
  }
  server_path = words[0];
  words.erase(words.begin());
  return RunNamed(words.empty() ? AllNames() : words) ? 0 : 1;
}
