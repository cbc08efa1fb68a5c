// Puts the unchanged official client with CUDA through everything that GPU objects are for.
//
//   walkthrough SOCKET SCENARIO [ARGUMENT ...]
//
// prints "ok" or one sentence that says what went wrong, and ends with 0 or 1. A scenario leaves
// nothing in the store. Where it needs other processes it starts itself again.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "device.h"
#include "plasma/client.h"

using plasma::ObjectBuffer;
using plasma::ObjectID;
using plasma::PlasmaClient;
using Bytes = std::vector<uint8_t>;

namespace {

std::string socket_path;

[[noreturn]] void Fail(const std::string& sentence) {
  std::printf("%s\n", sentence.c_str());
  std::exit(1);
}

void Expect(bool holds, const std::string& sentence) {
  if (!holds) Fail(sentence);
}

void Expect(const Status& status, const std::string& what) {
  Expect(status.ok(), what + ": " + status.ToString());
}

ObjectID Id(int number) {
  char text[21];
  std::snprintf(text, sizeof text, "walkthrough-%08d", number);
  return ObjectID::from_binary(std::string(text, 20));
}

Bytes Pattern(size_t size, uint32_t seed) {
  Bytes bytes(size);
  uint32_t state = seed * 2654435761u + 1;
  for (auto& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

std::unique_ptr<PlasmaClient> Connect(const std::string& path = socket_path) {
  auto client = std::make_unique<PlasmaClient>();
  Expect(client->Connect(path, "", 0), "connect");
  return client;
}

Bytes Read(const std::shared_ptr<Buffer>& buffer) {
  Bytes bytes(buffer->size());
  device::CopyOut(bytes.data(), buffer->address(), bytes.size());
  return bytes;
}

// Metadata is written by the client itself, through the device.
std::shared_ptr<Buffer> Create(PlasmaClient& client, const ObjectID& id, const Bytes& data,
                               const Bytes& metadata, int device_num = 1) {
  std::shared_ptr<Buffer> buffer;
  Expect(client.Create(id, data.size(), metadata.data(), metadata.size(), &buffer, device_num),
         "create");
  // The client takes the size of all the memory behind it, which has room for the metadata too.
  size_t size = data.size() + metadata.size();
  Expect(buffer->size() >= static_cast<int64_t>(size), "too small a buffer");
  device::CopyIn(buffer->address(), data.data(), data.size());
  return buffer;
}

void Put(PlasmaClient& client, const ObjectID& id, const Bytes& data, const Bytes& metadata,
         int device_num = 1) {
  auto buffer = Create(client, id, data, metadata, device_num);
  Expect(client.Seal(id), "seal");
  buffer.reset();
  Expect(client.Release(id), "release");
}

ObjectBuffer Get(PlasmaClient& client, const ObjectID& id, int64_t timeout_ms = 10000) {
  std::vector<ObjectBuffer> buffers;
  Expect(client.Get({id}, timeout_ms, &buffers), "get");
  return buffers.at(0);
}

void ExpectContents(PlasmaClient& client, const ObjectID& id, const Bytes& data,
                    const Bytes& metadata, int device_num = 1) {
  ObjectBuffer got = Get(client, id);
  Expect(got.data != nullptr, "the object is not there");
  Expect(got.device_num == device_num, "it is on another device");
  Expect(Read(got.data) == data, "the data differ");
  Expect(Read(got.metadata) == metadata, "the metadata differ");
}

bool Contains(PlasmaClient& client, const ObjectID& id) {
  bool contains = false;
  Expect(client.Contains(id, &contains), "contains");
  return contains;
}

void Eventually(const std::function<bool()>& condition, const std::string& sentence) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  Fail(sentence);
}

// Another process that runs a part of a scenario.
class Peer {
 public:
  explicit Peer(std::vector<std::string> arguments, const std::string& path = socket_path) {
    int ends[2];
    Expect(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], 1);
      arguments.insert(arguments.begin(), {"walkthrough", path});
      std::vector<char*> words;
      for (auto& argument : arguments) words.push_back(&argument[0]);
      words.push_back(nullptr);
      execv("/proc/self/exe", words.data());
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
  }

  ~Peer() { close(output_); }

  // A line of what it prints.
  std::string Line() {
    std::string line;
    char byte;
    while (read(output_, &byte, 1) == 1 && byte != '\n') line.push_back(byte);
    return line;
  }

  void Kill() { kill(pid_, SIGKILL); }

  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  void ExpectOk() {
    std::string line = Line();
    Expect(Wait() == 0 && line == "ok", "another process says: " + line);
  }

 private:
  pid_t pid_;
  int output_;
};

using Arguments = std::vector<std::string>;

std::string Text(size_t number) { return std::to_string(number); }

// ---- parts that other processes run ----

// NUMBER SIZE METADATA-SIZE [DEVICE-NUM]: the object has the pattern of its number.
void GetOne(const Arguments& arguments) {
  int number = std::stoi(arguments.at(0));
  int device_num = arguments.size() > 3 ? std::stoi(arguments[3]) : 1;
  if (device_num > 0) device::Use(device_num - 1);
  auto client = Connect();
  ExpectContents(*client, Id(number), Pattern(std::stoul(arguments.at(1)), number),
                 Pattern(std::stoul(arguments.at(2)), number + 1), device_num);
}

// NUMBER SIZE: creates an object, says so, and waits to be killed.
void HoldUnsealed(const Arguments& arguments) {
  device::Use(0);
  auto client = Connect();
  auto buffer = Create(*client, Id(std::stoi(arguments.at(0))),
                       Pattern(std::stoul(arguments.at(1)), 1), {});
  std::printf("held\n");
  std::fflush(stdout);
  pause();
}

// NUMBER: gets an object, says so, and waits to be killed.
void HoldGot(const Arguments& arguments) {
  device::Use(0);
  auto client = Connect();
  auto got = Get(*client, Id(std::stoi(arguments.at(0))));
  Expect(got.data != nullptr, "the object is not there");
  std::printf("held\n");
  std::fflush(stdout);
  pause();
}

// Prints the free memory of the first device. No context of ours is left to take up some of it.
void Free(const Arguments&) {
  device::Use(0);
  std::printf("%zu\n", device::FreeBytes());
}

// The store has used the device already, so that what it needs for that is taken.
void WarmUp() {
  auto client = Connect();
  Put(*client, Id(0), Pattern(1000, 0), {});
  Expect(client->Delete(Id(0)), "delete");
}

size_t FreeNow() {
  Peer peer({"free"});
  std::string line = peer.Line();
  Expect(peer.Wait() == 0, "the free memory is not told: " + line);
  return std::stoul(line);
}

// ---- scenarios ----

void RoundTrip(const Arguments&) {
  auto client = Connect();
  int number = 100;
  for (size_t size : {1u, 4096u, 1u << 20, (2u << 20) + 1, 16u << 20}) {
    for (size_t metadata_size : {0u, 1u, 32u, 5000u}) {
      Put(*client, Id(number), Pattern(size, number), Pattern(metadata_size, number + 1));
      Peer({"get-one", Text(number), Text(size), Text(metadata_size)}).ExpectOk();
      Expect(client->Delete(Id(number)), "delete");
      ++number;
    }
  }
}

void AbortAndDelete(const Arguments&) {
  auto client = Connect(), other = Connect();
  auto buffer = Create(*client, Id(1), Pattern(100000, 1), {});
  Expect(!Contains(*other, Id(1)), "an unsealed object is there");
  buffer.reset();
  Expect(client->Release(Id(1)), "release");
  Expect(client->Abort(Id(1)), "abort");
  Put(*client, Id(1), Pattern(1000, 1), Pattern(32, 2));
  {
    auto got = Get(*other, Id(1));
    Expect(Contains(*client, Id(1)), "a sealed object is not there");
    Expect(client->Delete(Id(1)), "delete");
    Expect(Read(got.data) == Pattern(1000, 1), "what is in use has gone");
  }
  // The holder has released it with its last buffer.
  Eventually([&] { return !Contains(*client, Id(1)); }, "a deleted object is still there");
}

void Repeated(const Arguments&) {
  auto client = Connect();
  for (uint32_t round = 0; round < 3; ++round) {
    Put(*client, Id(1), Pattern(5000, round), Pattern(32, round));
    std::shared_ptr<Buffer> buffer;
    Status status = client->Create(Id(1), 10, nullptr, 0, &buffer, 1);
    Expect(plasma::IsPlasmaObjectExists(status), "the same id again: " + status.ToString());
    ExpectContents(*client, Id(1), Pattern(5000, round), Pattern(32, round));
    Expect(client->Delete(Id(1)), "delete");
    Expect(!Contains(*client, Id(1)), "a deleted object is still there");
  }
}

void Lifetime(const Arguments&) {
  auto creator = Connect();
  Put(*creator, Id(1), Pattern(50000, 1), Pattern(32, 2));
  auto client = Connect();
  ObjectBuffer got = Get(*client, Id(1));
  Expect(client->Disconnect(), "disconnect");
  client.reset();
  Expect(Read(got.data) == Pattern(50000, 1), "the data do not outlive their client");
  Expect(Read(got.metadata) == Pattern(32, 2), "the metadata do not outlive their client");
  got = ObjectBuffer();
  Expect(creator->Delete(Id(1)), "delete");
}

void TwoClients(const Arguments&) {
  auto one = Connect(), two = Connect();
  Put(*one, Id(1), Pattern(70000, 1), Pattern(32, 2));
  {
    auto first = Get(*one, Id(1)), second = Get(*two, Id(1)), third = Get(*two, Id(1));
    for (auto& got : {first, second, third}) {
      Expect(Read(got.data) == Pattern(70000, 1), "the data differ");
    }
    second = ObjectBuffer();
    Expect(Read(third.data) == Pattern(70000, 1), "it is gone with another buffer");
    Expect(Read(first.data) == Pattern(70000, 1), "it is gone with another client's");
  }
  Expect(one->Delete(Id(1)), "delete");
}

void Mixed(const Arguments&) {
  auto client = Connect(), reader = Connect();
  std::vector<ObjectID> ids;
  for (int number = 0; number < 6; ++number) {
    ids.push_back(Id(number));
    if (number % 3 == 0) continue;  // Missing.
    Bytes data = Pattern(1000 + number, number);
    if (number % 3 == 1) {
      Put(*client, Id(number), data, Pattern(32, number));
      continue;
    }
    std::shared_ptr<Buffer> buffer;
    Bytes metadata = Pattern(32, number);
    Expect(client->Create(Id(number), data.size(), metadata.data(), 32, &buffer), "create");
    std::memcpy(buffer->mutable_data(), data.data(), data.size());
    Expect(client->Seal(Id(number)), "seal");
    buffer.reset();
    Expect(client->Release(Id(number)), "release");
  }
  for (int order = 0; order < 2; ++order) {
    std::vector<ObjectBuffer> buffers;
    Expect(reader->Get(ids, 100, &buffers), "get");
    for (size_t place = 0; place < ids.size(); ++place) {
      int number = std::stoi(ids[place].binary().substr(12));
      auto& got = buffers.at(place);
      Expect((got.data != nullptr) == (number % 3 != 0), "present or not, wrongly");
      if (got.data == nullptr) continue;
      Expect(got.device_num == (number % 3 == 1 ? 1 : 0), "on the wrong device");
      Bytes data = got.device_num == 1 ? Read(got.data)
                                       : Bytes(got.data->data(), got.data->data() + got.data->size());
      Expect(data == Pattern(1000 + number, number), "the data differ");
    }
    std::reverse(ids.begin(), ids.end());
  }
  Expect(client->Delete(ids), "delete");
}

// COUNT SIZE: that many objects, more than the device may have. A store that evicts none refuses.
void Limit(const Arguments& arguments) {
  bool refuses = arguments.size() > 2 && arguments[2] == "refuses";
  int count = std::stoi(arguments.at(0));
  size_t size = std::stoul(arguments.at(1));
  auto client = Connect();
  std::vector<ObjectID> ids;
  int made = 0;
  for (; made < count; ++made) {
    std::shared_ptr<Buffer> buffer;
    Bytes data = Pattern(size, made), metadata = Pattern(32, made + 1);
    Status status = client->Create(Id(made), size, metadata.data(), 32, &buffer, 1);
    if (refuses && !status.ok()) break;
    Expect(status, "create");
    device::CopyIn(buffer->address(), data.data(), size);
    Expect(client->Seal(Id(made)), "seal");
    buffer.reset();
    Expect(client->Release(Id(made)), "release");
    ids.push_back(Id(made));
  }
  Expect(refuses ? made < count : made == count, "the limit is not met");
  for (int round = 0; round < 2; ++round) {
    for (int number = 0; number < made; ++number) {
      ExpectContents(*client, Id(number), Pattern(size, number), Pattern(32, number + 1));
    }
  }
  Peer({"get-one", "0", Text(size), "32"}).ExpectOk();
  Expect(client->Delete(ids), "delete");
}

// SIZE: what is open stays as it is while the device is filled around it.
void OpenWhileFull(const Arguments& arguments) {
  size_t size = std::stoul(arguments.at(0));
  auto reader = Connect(), writer = Connect();
  Put(*writer, Id(0), Pattern(size, 0), {});
  auto got = Get(*reader, Id(0));
  std::vector<ObjectID> ids = {Id(0)};
  for (int number = 1; number <= 12; ++number) {
    Put(*writer, Id(number), Pattern(size, number), {});
    ids.push_back(Id(number));
    Expect(Read(got.data) == Pattern(size, 0), "an open object has changed");
  }
  got = ObjectBuffer();
  Expect(writer->Delete(ids), "delete");
}

void ExpectFreeAgain(size_t before) {
  auto is_back = [&] { return FreeNow() + (4u << 20) >= before; };
  for (int tries = 0; tries < 10; ++tries) {
    if (is_back()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  Fail("the memory does not come back: " + Text(before - FreeNow()) + " bytes are lacking");
}

void KillWriter(const Arguments& arguments) {
  WarmUp();
  size_t before = FreeNow();
  Peer peer({"hold-unsealed", "1", arguments.at(0)});
  Expect(peer.Line() == "held", "the writer fails");
  Expect(FreeNow() + std::stoul(arguments.at(0)) <= before, "the object takes up no memory");
  peer.Kill();
  peer.Wait();
  ExpectFreeAgain(before);
  auto client = Connect();
  Expect(!Contains(*client, Id(1)), "an unsealed object has survived its creator");
  Put(*client, Id(1), Pattern(100, 1), {});
  Expect(client->Delete(Id(1)), "delete");
}

void KillReader(const Arguments& arguments) {
  WarmUp();
  size_t before = FreeNow(), size = std::stoul(arguments.at(0));
  {
    auto client = Connect();
    Put(*client, Id(1), Pattern(size, 1), {});
    Peer peer({"hold-got", "1"});
    Expect(peer.Line() == "held", "the reader fails");
    Expect(client->Delete(Id(1)), "delete");
    peer.Kill();
    peer.Wait();
    Eventually([&] { return !Contains(*client, Id(1)); }, "the object is still there");
  }
  ExpectFreeAgain(before);
}

// What vovp does to share a tensor by a name.
struct Tensor {
  int32_t device_type = 2, device_id = 0;
  uint8_t code = 2, bits = 32;
  uint16_t lanes = 1;
  int32_t dimensions = 2;
  int64_t shape[2] = {0, 0};

  Bytes Metadata() const {
    Bytes bytes(16 + 8 * dimensions);
    std::memcpy(&bytes[0], &device_type, 4);
    std::memcpy(&bytes[4], &device_id, 4);
    bytes[8] = code;
    bytes[9] = bits;
    std::memcpy(&bytes[10], &lanes, 2);
    std::memcpy(&bytes[12], &dimensions, 4);
    std::memcpy(&bytes[16], shape, 8 * dimensions);
    return bytes;
  }
};

ObjectID NameId(std::string name) {
  name.resize(20, '\0');
  return ObjectID::from_binary(name);
}

// ROWS COLUMNS
void VovpGet(const Arguments& arguments) {
  device::Use(0);
  Tensor tensor;
  tensor.shape[0] = std::stol(arguments.at(0));
  tensor.shape[1] = std::stol(arguments.at(1));
  auto client = Connect();
  auto got = Get(*client, NameId("tensor"), 1000);
  Expect(got.data != nullptr, "the tensor is not there");
  Expect(Read(got.metadata) == tensor.Metadata(), "the metadata differ");
  Expect(Read(got.data) == Pattern(4 * tensor.shape[0] * tensor.shape[1], 7), "the data differ");
  // The client releases it with its last buffer.
}

void Vovp(const Arguments&) {
  auto client = Connect();
  ObjectID id = NameId("tensor");
  for (int64_t rows : {3, 1000, 3}) {
    Tensor tensor;
    tensor.shape[0] = rows;
    tensor.shape[1] = 50;
    // Whatever had the name before; most often nothing.
    Expect(client->Delete(id), "delete before");
    auto buffer = Create(*client, id, Pattern(4 * rows * 50, 7), tensor.Metadata());
    Expect(client->Seal(id), "seal");
    Peer({"vovp-get", Text(rows), "50"}).ExpectOk();
    plasma::ObjectTable objects;
    Expect(client->List(&objects), "list");
    Expect(objects.count(id) == 1, "the list lacks the tensor");
    Expect(objects[id]->data_size == 4 * rows * 50, "the list has another size");
    buffer.reset();
    Expect(client->Release(id), "release");
    Expect(client->Delete(id), "delete");
    Expect(!Contains(*client, id), "the tensor is still there");
  }
}

void Notifications(const Arguments&) {
  auto client = Connect(), subscriber = Connect();
  int fd = -1;
  Expect(subscriber->Subscribe(&fd), "subscribe");
  Put(*client, Id(1), Pattern(1000, 1), Pattern(32, 2));
  Expect(client->Delete(Id(1)), "delete");
  int64_t sizes[2][2] = {{1000, 32}, {-1, -1}};
  for (auto& expected : sizes) {
    ObjectID id;
    int64_t data_size = 0, metadata_size = 0;
    Expect(subscriber->GetNotification(fd, &id, &data_size, &metadata_size), "notification");
    Expect(id == Id(1), "a notification of another object");
    Expect(data_size == expected[0] && metadata_size == expected[1], "sizes in a notification");
  }
}

// COUNT: objects on each of so many devices.
void Devices(const Arguments& arguments) {
  int count = std::stoi(arguments.at(0));
  auto client = Connect();
  std::vector<ObjectID> ids;
  for (int number = 0; number < 4 * count; ++number) {
    int device_num = number % count + 1;
    device::Use(device_num - 1);
    Put(*client, Id(number), Pattern(1000 + number, number), Pattern(32, number + 1), device_num);
    ids.push_back(Id(number));
  }
  for (int number = 0; number < 4 * count; ++number) {
    std::string size = Text(1000 + number), device_num = Text(number % count + 1);
    Peer({"get-one", Text(number), size, "32", device_num}).ExpectOk();
  }
  std::shared_ptr<Buffer> buffer;
  Status status = client->Create(Id(999), 10, nullptr, 0, &buffer, count + 1);
  Expect(!status.ok(), "a device that is not there takes an object");
  Expect(client->Delete(ids), "delete");
}

// SOCKET: of another store, used by the same process at the same time. The client library keeps
// what it has opened by id, whichever store it is of, so the ids have to differ.
void TwoStores(const Arguments& arguments) {
  auto one = Connect(), two = Connect(arguments.at(0));
  std::vector<ObjectID> ids[2];
  std::vector<ObjectBuffer> kept;
  for (int number = 0; number < 8; ++number) {
    auto& client = number % 2 == 0 ? *one : *two;
    Put(client, Id(number), Pattern(5000 + number, number), Pattern(32, number + 1));
    ids[number % 2].push_back(Id(number));
  }
  for (int number = 0; number < 8; ++number) {
    kept.push_back(Get(number % 2 == 0 ? *one : *two, Id(number)));
  }
  for (int number = 0; number < 8; ++number) {
    Expect(Read(kept[number].data) == Pattern(5000 + number, number), "the data differ");
  }
  kept.clear();
  Expect(one->Delete(ids[0]), "delete");
  Expect(two->Delete(ids[1]), "delete");
}

const std::map<std::string, void (*)(const Arguments&)> scenarios = {
    {"round-trip", RoundTrip},
    {"abort-and-delete", AbortAndDelete},
    {"repeated", Repeated},
    {"lifetime", Lifetime},
    {"two-clients", TwoClients},
    {"mixed", Mixed},
    {"limit", Limit},
    {"open-while-full", OpenWhileFull},
    {"kill-writer", KillWriter},
    {"kill-reader", KillReader},
    {"vovp", Vovp},
    {"notifications", Notifications},
    {"devices", Devices},
    {"two-stores", TwoStores},
};

const std::map<std::string, void (*)(const Arguments&)> parts = {
    {"get-one", GetOne},
    {"hold-unsealed", HoldUnsealed},
    {"hold-got", HoldGot},
    {"vovp-get", VovpGet},
};

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: walkthrough SOCKET SCENARIO [ARGUMENT ...]\n");
    return 2;
  }
  socket_path = words[1];
  std::string name = words[2];
  Arguments arguments(words + 3, words + count);
  if (name == "free") {
    Free(arguments);
    return 0;
  }
  auto part = parts.find(name);
  if (part != parts.end()) {
    part->second(arguments);
  } else {
    auto scenario = scenarios.find(name);
    if (scenario == scenarios.end()) {
      std::fprintf(stderr, "no such scenario: %s\n", name.c_str());
      return 2;
    }
    device::Use(0);
    scenario->second(arguments);
  }
  std::printf("ok\n");
  return 0;
}
