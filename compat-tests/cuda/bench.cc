// How fast the unchanged official client with CUDA is with a store.
//
//   bench SOCKET put SIZE ROUNDS       create, copy in, seal, release, delete
//   bench SOCKET get SIZE ROUNDS       get, copy out, release
//   bench SOCKET evict SIZE COUNT      COUNT objects, of which half fit; then all are read
//
// prints numbers: the median time of a round in microseconds, or for the last of a create that
// evicts one object, and of a get that restores one and evicts one for it.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "device.h"
#include "plasma/client.h"

using plasma::ObjectBuffer;
using plasma::ObjectID;

namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

void Expect(const Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

ObjectID Id(int number) {
  char text[21];
  std::snprintf(text, sizeof text, "bench-%014d", number);
  return ObjectID::from_binary(std::string(text, 20));
}

class Bench {
 public:
  Bench(const std::string& socket, size_t size) : size_(size) {
    Expect(client_.Connect(socket, "", 0), "connect");
    host_ = device::AllocateHost(size);
    std::memset(host_, 1, size);
  }

  void Put(const ObjectID& id) {
    std::shared_ptr<Buffer> buffer;
    Expect(client_.Create(id, size_, nullptr, 0, &buffer, 1), "create");
    device::CopyIn(buffer->address(), host_, size_);
    Expect(client_.Seal(id), "seal");
    buffer.reset();
    Expect(client_.Release(id), "release");
  }

  void Get(const ObjectID& id) {
    std::vector<ObjectBuffer> buffers;
    Expect(client_.Get({id}, 10000, &buffers), "get");
    if (buffers.at(0).data == nullptr) Expect(Status::KeyError("it is gone"), "get");
    device::CopyOut(host_, buffers[0].data->address(), size_);
  }

  double Puts(int rounds) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      auto start = Clock::now();
      Put(Id(0));
      Expect(client_.Delete(Id(0)), "delete");
      times.push_back(MicrosecondsSince(start));
    }
    return Median(times);
  }

  double Gets(int rounds) {
    Put(Id(0));
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      auto start = Clock::now();
      Get(Id(0));
      times.push_back(MicrosecondsSince(start));
    }
    Expect(client_.Delete(Id(0)), "delete");
    return Median(times);
  }

  void Evictions(int count) {
    std::vector<double> creates, gets;
    std::vector<ObjectID> ids;
    for (int number = 0; number < count; ++number) {
      ids.push_back(Id(number));
      std::shared_ptr<Buffer> buffer;
      auto start = Clock::now();
      Expect(client_.Create(ids.back(), size_, nullptr, 0, &buffer, 1), "create");
      creates.push_back(MicrosecondsSince(start));
      device::CopyIn(buffer->address(), host_, size_);
      Expect(client_.Seal(ids.back()), "seal");
      buffer.reset();
      Expect(client_.Release(ids.back()), "release");
    }
    for (int round = 0; round < 2; ++round) {
      for (const auto& id : ids) {
        std::vector<ObjectBuffer> buffers;
        auto start = Clock::now();
        Expect(client_.Get({id}, 10000, &buffers), "get");
        gets.push_back(MicrosecondsSince(start));
      }
    }
    // The first half of the creates found room, and the first evictions page-lock memory.
    creates.erase(creates.begin(), creates.begin() + count / 2 + count / 4);
    gets.erase(gets.begin(), gets.begin() + count);
    std::printf("%.1f %.1f\n", Median(creates), Median(gets));
    Expect(client_.Delete(ids), "delete");
  }

 private:
  plasma::PlasmaClient client_;
  size_t size_;
  void* host_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "usage: bench SOCKET put|get|evict SIZE ROUNDS\n");
    return 2;
  }
  device::Use(0);
  std::string mode = words[2];
  Bench bench(words[1], std::stoul(words[3]));
  int rounds = std::stoi(words[4]);
  if (mode == "evict") {
    bench.Evictions(rounds);
  } else {
    std::printf("%.1f\n", mode == "put" ? bench.Puts(rounds) : bench.Gets(rounds));
  }
  return 0;
}
