// A management library that says what a script tells it, and a driver library along with it.
// SPDX-License-Identifier: Apache-2.0
//
// The script is the file named by $FAKE_NVML, read anew by nvmlInit_v2 and cuInit; one line an answer:
//   0 nvmlDeviceGetPowerUsage 350000        device, function, numbers (or words, to the end of the line)
//   0 nvmlDeviceGetClockInfo/2 2619         an argument that matters comes after a slash
//   1 nvmlDeviceGetPowerUsage error 15      fails with that status
//   - nvmlDeviceGetCount_v2 2               "-": of no device
// What no line answers is not supported. Devices 100 and up are partitions of device (number - 100) / 8.
// Written from the same public facts as cuda/nvml_types.h, and on purpose without it: two readings of one document.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  success = 0,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7,
  timed_out = 10,
  version_mismatch = 25
};
enum { most_lines = 400, most_devices = 256 };

struct Line {
  char key[96];  // "0 nvmlDeviceGetPowerUsage"
  char rest[128];
  int asked;
};

struct Object {
  int number;
};

static struct Line lines[most_lines];
static int line_count;
static struct Object objects[most_devices];
static int events_taken;
static long unscripted;

static void read_script(void) {
  const char* path = getenv("FAKE_NVML");
  FILE* file = path ? fopen(path, "r") : NULL;
  char text[256];
  line_count = 0;
  events_taken = 0;
  unscripted = 0;
  for (int at = 0; at < most_devices; ++at) objects[at].number = at;
  while (file && line_count < most_lines && fgets(text, sizeof text, file)) {
    char device[16], function[72];
    int used = 0;
    if (sscanf(text, "%15s %71s %n", device, function, &used) < 2) continue;
    struct Line* line = &lines[line_count++];
    snprintf(line->key, sizeof line->key, "%s %s", device, function);
    snprintf(line->rest, sizeof line->rest, "%s", text + used);
    line->rest[strcspn(line->rest, "\n")] = '\0';
    line->asked = 0;
  }
  if (file) fclose(file);
}

// Later lines win, so that a test can add to a healthy device.
static struct Line* find(int device, const char* function) {
  char key[96];
  if (device < 0)
    snprintf(key, sizeof key, "- %s", function);
  else
    snprintf(key, sizeof key, "%d %s", device, function);
  for (int at = line_count - 1; at >= 0; --at)
    if (strcmp(lines[at].key, key) == 0) return &lines[at];
  return NULL;
}

// How often that was asked since the script was read; -1 where no line answers it.
EXPORT int fake_asked(int device, const char* function) {
  const struct Line* line = find(device, function);
  return line ? line->asked : -1;
}

// How many questions no line answered.
EXPORT long fake_unscripted(void) { return unscripted; }

static int say(int device, const char* function, unsigned long long* numbers, int count) {
  struct Line* line = find(device, function);
  int status = 0;
  if (!line) {
    ++unscripted;
    return not_supported;
  }
  ++line->asked;
  if (sscanf(line->rest, "error %d", &status) == 1) return status;
  char* at = line->rest;
  for (int number = 0; number < count; ++number) numbers[number] = strtoull(at, &at, 0);
  return success;
}

static int device_of(const void* handle) { return ((const struct Object*)handle)->number; }

static int number32(const void* handle, const char* function, unsigned* value) {
  unsigned long long number = 0;
  const int status = say(device_of(handle), function, &number, 1);
  if (status == success) *value = (unsigned)number;
  return status;
}

static int number64(const void* handle, const char* function, unsigned long long* value) {
  return say(device_of(handle), function, value, 1);
}

static int pair32(const void* handle, const char* function, unsigned* first, unsigned* second) {
  unsigned long long numbers[2] = {0, 0};
  const int status = say(device_of(handle), function, numbers, 2);
  if (status == success) {
    *first = (unsigned)numbers[0];
    *second = (unsigned)numbers[1];
  }
  return status;
}

static int words(int device, const char* function, char* text, unsigned length) {
  const int status = say(device, function, NULL, 0);
  if (status != success) return status;
  snprintf(text, length, "%s", find(device, function)->rest);
  return success;
}

static const char* with(const char* function, unsigned argument) {
  static __thread char text[72];
  snprintf(text, sizeof text, "%s/%u", function, argument);
  return text;
}

EXPORT int nvmlInit_v2(void) {
  read_script();
  const int status = say(-1, "nvmlInit_v2", NULL, 0);
  return status == not_supported ? success : status;
}
EXPORT int nvmlShutdown(void) { return success; }
EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return words(-1, "nvmlSystemGetDriverVersion", text, length);
}
EXPORT int nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return words(-1, "nvmlSystemGetNVMLVersion", text, length);
}
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  unsigned long long number = 0;
  const int status = say(-1, "nvmlSystemGetCudaDriverVersion_v2", &number, 1);
  if (status == success) *version = (int)number;
  return status;
}
EXPORT int nvmlSystemGetConfComputeState(unsigned* state) {
  unsigned long long numbers[3] = {0, 0, 0};
  const int status = say(-1, "nvmlSystemGetConfComputeState", numbers, 3);
  for (int at = 0; status == success && at < 3; ++at) state[at] = (unsigned)numbers[at];
  return status;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  unsigned long long number = 0;
  const int status = say(-1, "nvmlDeviceGetCount_v2", &number, 1);
  if (status == success) *count = (unsigned)number;
  return status;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = &objects[index];
  return success;
}
static int by_text(const char* function, const char* wanted, void** handle) {
  for (int device = 0; device < most_devices; ++device) {
    const struct Line* line = find(device, function);
    if (!line || strcasecmp(line->rest, wanted) != 0) continue;
    *handle = &objects[device];
    return success;
  }
  return not_found;
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** handle) {
  char wide[32];
  snprintf(wide, sizeof wide, "0000%s", place);  // this library writes eight digits of domain
  return by_text("nvmlDeviceGetPciInfo_v3", wide, handle);
}
EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  return by_text("nvmlDeviceGetUUID", uuid, handle);
}
EXPORT int nvmlDeviceGetPciInfo_v3(void* handle, char* info) {
  memset(info, 0, 68);
  return words(device_of(handle), "nvmlDeviceGetPciInfo_v3", info + 36, 32);
}

#define TEXT(function)                                             \
  EXPORT int function(void* handle, char* text, unsigned length) { \
    return words(device_of(handle), #function, text, length);      \
  }
TEXT(nvmlDeviceGetName)
TEXT(nvmlDeviceGetUUID)
TEXT(nvmlDeviceGetSerial)
TEXT(nvmlDeviceGetBoardPartNumber)
TEXT(nvmlDeviceGetVbiosVersion)

#define NUMBER(function) \
  EXPORT int function(void* handle, unsigned* value) { return number32(handle, #function, value); }
NUMBER(nvmlDeviceGetPowerUsage)
NUMBER(nvmlDeviceGetEnforcedPowerLimit)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth)
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration)
NUMBER(nvmlDeviceGetPcieReplayCounter)
NUMBER(nvmlDeviceGetMaxMigDeviceCount)
NUMBER(nvmlDeviceGetComputeMode)
NUMBER(nvmlDeviceGetPersistenceMode)
NUMBER(nvmlDeviceGetVirtualizationMode)
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus)

#define LONG(function) \
  EXPORT int function(void* handle, unsigned long long* value) { return number64(handle, #function, value); }
LONG(nvmlDeviceGetTotalEnergyConsumption)
LONG(nvmlDeviceGetCurrentClocksEventReasons)
LONG(nvmlDeviceGetCurrentClocksThrottleReasons)

#define PAIR(function)                                                   \
  EXPORT int function(void* handle, unsigned* first, unsigned* second) { \
    return pair32(handle, #function, first, second);                     \
  }
PAIR(nvmlDeviceGetPowerManagementLimitConstraints)
PAIR(nvmlDeviceGetEccMode)
PAIR(nvmlDeviceGetMigMode)

#define WITH(function)                                                 \
  EXPORT int function(void* handle, unsigned which, unsigned* value) { \
    return number32(handle, with(#function, which), value);            \
  }
WITH(nvmlDeviceGetClockInfo)
WITH(nvmlDeviceGetMaxClockInfo)
WITH(nvmlDeviceGetApplicationsClock)
WITH(nvmlDeviceGetTemperature)
WITH(nvmlDeviceGetNvLinkState)
WITH(nvmlDeviceGetNvLinkVersion)

EXPORT int nvmlDeviceGetUtilizationRates(void* handle, unsigned* rates) {
  return pair32(handle, "nvmlDeviceGetUtilizationRates", &rates[0], &rates[1]);
}
EXPORT int nvmlDeviceGetMemoryInfo(void* handle, unsigned long long* memory) {
  return say(device_of(handle), "nvmlDeviceGetMemoryInfo", memory, 3);
}
// The struct says its size and version: 40 bytes, version 2. A script with "old" only knows another.
EXPORT int nvmlDeviceGetMemoryInfo_v2(void* handle, unsigned long long* memory) {
  if ((unsigned)memory[0] != (40U | 2U << 24)) return version_mismatch;
  return say(device_of(handle), "nvmlDeviceGetMemoryInfo_v2", memory + 1, 4);
}
EXPORT int nvmlDeviceGetTotalEccErrors(void* handle, unsigned error, unsigned counter, unsigned long long* count) {
  return number64(handle, with("nvmlDeviceGetTotalEccErrors", error * 10 + counter), count);
}
EXPORT int nvmlDeviceGetRemappedRows(void* handle, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                                     unsigned* failed) {
  unsigned long long numbers[4] = {0, 0, 0, 0};
  const int status = say(device_of(handle), "nvmlDeviceGetRemappedRows", numbers, 4);
  if (status != success) return status;
  *corrected = (unsigned)numbers[0];
  *uncorrected = (unsigned)numbers[1];
  *pending = (unsigned)numbers[2];
  *failed = (unsigned)numbers[3];
  return success;
}
EXPORT int nvmlDeviceGetRetiredPages(void* handle, unsigned cause, unsigned* count, unsigned long long* addresses) {
  const unsigned room = *count;
  const int status = number32(handle, with("nvmlDeviceGetRetiredPages", cause), count);
  if (status == success && *count > room) return insufficient_size;
  for (unsigned at = 0; status == success && at < *count; ++at) addresses[at] = at;
  return status;
}

// "0 nvmlDeviceGetFieldValues/186 kind value", "/208.3" for the third link.
EXPORT int nvmlDeviceGetFieldValues(void* handle, int count, unsigned char* values) {
  for (int at = 0; at < count; ++at, values += 40) {
    unsigned field, scope, kind;
    unsigned long long numbers[2] = {0, 0};
    char function[72];
    memcpy(&field, values, 4);
    memcpy(&scope, values + 4, 4);
    if (scope == 0)
      snprintf(function, sizeof function, "nvmlDeviceGetFieldValues/%u", field);
    else
      snprintf(function, sizeof function, "nvmlDeviceGetFieldValues/%u.%u", field, scope);
    const int status = say(device_of(handle), function, numbers, 2);
    kind = (unsigned)numbers[0];
    memcpy(values + 24, &kind, 4);
    memcpy(values + 28, &status, 4);
    if (kind == 0) {
      const double value = (double)numbers[1];
      memcpy(values + 32, &value, 8);
    } else {
      memcpy(values + 32, &numbers[1], 8);
    }
  }
  return success;
}

// "0 <function> bytes-an-entry pid pid ...": each with 512 MiB.
static int list(void* handle, const char* function, unsigned* count, unsigned char* entries) {
  unsigned long long stride = 0;
  const int status = say(device_of(handle), function, &stride, 1);
  if (status != success) return status;
  char* at = find(device_of(handle), function)->rest;
  strtoull(at, &at, 0);
  unsigned found = 0;
  for (char* end = at;; at = end, ++found) {
    const unsigned pid = (unsigned)strtoull(at, &end, 0);
    const unsigned long long memory = 512ULL << 20;
    if (end == at) break;
    memset(entries, 0, stride);
    memcpy(entries, &pid, 4);
    memcpy(entries + 8, &memory, 8);
    if (stride > 16) memset(entries + 16, 0xFF, 8);  // no partition
    if (stride > 24) memset(entries + 24, 0, 8);
    entries += stride;
  }
  *count = found;
  return success;
}
#define LIST(function)                                                         \
  EXPORT int function(void* handle, unsigned* count, unsigned char* entries) { \
    return list(handle, #function, count, entries);                            \
  }
LIST(nvmlDeviceGetComputeRunningProcesses_v3)
LIST(nvmlDeviceGetComputeRunningProcesses_v2)
LIST(nvmlDeviceGetComputeRunningProcesses)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2)
LIST(nvmlDeviceGetGraphicsRunningProcesses)

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(void* handle, unsigned index, void** partition) {
  const int number = 100 + device_of(handle) * 8 + (int)index;
  if (index >= 8 || !find(number, "nvmlDeviceGetUUID")) return not_found;
  *partition = &objects[number];
  return success;
}
EXPORT int nvmlDeviceIsMigDeviceHandle(void* handle, unsigned* is) {
  *is = device_of(handle) >= 100;
  return success;
}
EXPORT int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* partition, void** handle) {
  if (device_of(partition) < 100) return invalid_argument;
  *handle = &objects[(device_of(partition) - 100) / 8];
  return success;
}
EXPORT int nvmlDeviceGetAttributes_v2(void* handle, unsigned* attributes) {
  unsigned long long numbers[9] = {0};
  const int status = say(device_of(handle), "nvmlDeviceGetAttributes_v2", numbers, 9);
  if (status != success) return status;
  for (int at = 0; at < 8; ++at) attributes[at] = (unsigned)numbers[at];
  memcpy(attributes + 8, &numbers[8], 8);
  return success;
}

// "0 nvmlDeviceGetGridLicensableFeatures_v4 supported count state"
EXPORT int nvmlDeviceGetGridLicensableFeatures_v4(void* handle, unsigned char* features) {
  unsigned long long numbers[3] = {0, 0, 0};
  const int status = say(device_of(handle), "nvmlDeviceGetGridLicensableFeatures_v4", numbers, 3);
  for (int at = 0; status == success && at < 2; ++at) {
    const unsigned value = (unsigned)numbers[at];
    memcpy(features + 4 * at, &value, 4);
  }
  if (status == success) {
    const unsigned state = (unsigned)numbers[2];
    memcpy(features + 8 + 4, &state, 4);
  }
  return status;
}

// "0 nvmlDeviceGetGpuFabricInfo state status"
static int fabric(void* handle, const char* function, unsigned char* info) {
  unsigned long long numbers[2] = {0, 0};
  const int status = say(device_of(handle), function, numbers, 2);
  if (status != success) return status;
  const unsigned registered = (unsigned)numbers[1];
  memcpy(info + 16, &registered, 4);
  info[24] = (unsigned char)numbers[0];
  return success;
}
EXPORT int nvmlDeviceGetGpuFabricInfo(void* handle, unsigned char* info) {
  return fabric(handle, "nvmlDeviceGetGpuFabricInfo", info);
}
EXPORT int nvmlDeviceGetGpuFabricInfoV(void* handle, unsigned char* info) {
  unsigned version;
  memcpy(&version, info, 4);
  if (version != (36U | 2U << 24)) return version_mismatch;
  return fabric(handle, "nvmlDeviceGetGpuFabricInfoV", info + 4);
}

// "0 nvmlEventSetWait_v2 79 31": those Xids, each once.
EXPORT int nvmlEventSetCreate(void** set) {
  *set = &objects[most_devices - 1];
  const int status = say(-1, "nvmlEventSetCreate", NULL, 0);
  return status == not_supported ? success : status;
}
EXPORT int nvmlEventSetFree(void* set) {
  (void)set;
  return success;
}
EXPORT int nvmlDeviceRegisterEvents(void* handle, unsigned long long kinds, void* set) {
  (void)set;
  return kinds == 8 && find(device_of(handle), "nvmlEventSetWait_v2") ? success : not_supported;
}
EXPORT int nvmlEventSetWait_v2(void* set, void** event, unsigned milliseconds) {
  (void)set;
  if (milliseconds != 0) return invalid_argument;  // it must never wait
  int skipped = 0;
  for (int device = 0; device < 8; ++device) {
    struct Line* line = find(device, "nvmlEventSetWait_v2");
    if (!line) continue;
    char* at = line->rest;
    for (char* end = at;; at = end, ++skipped) {
      const unsigned long long xid = strtoull(at, &end, 0);
      if (end == at) break;
      if (skipped < events_taken) continue;
      const unsigned long long kind = 8;
      ++events_taken;
      event[0] = &objects[device];
      memcpy(&event[1], &kind, 8);
      memcpy(&event[2], &xid, 8);
      return success;
    }
  }
  return timed_out;
}

// The driver library: "- cuInit 0" makes it start, "- cuDevice/0 1" says that its first device is the fake's device 1,
// whose UUID is read from its line without the four letters before it.
EXPORT int cuInit(unsigned flags) {
  (void)flags;
  read_script();
  unsigned long long status = 0;
  return say(-1, "cuInit", &status, 1) == success ? (int)status : 999;
}
EXPORT int cuDeviceGetCount(int* count) {
  for (*count = 0; find(-1, with("cuDevice", (unsigned)*count)); ++*count) continue;
  return 0;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
  unsigned long long number = 0;
  const int status = say(-1, with("cuDevice", (unsigned)ordinal), &number, 1);
  *device = (int)number;
  return status;
}
EXPORT int cuDeviceGetPCIBusId(char* text, int length, int device) {
  const struct Line* line = find(device >= 100 ? (device - 100) / 8 : device, "nvmlDeviceGetPciInfo_v3");
  if (!line) return 101;
  snprintf(text, (size_t)length, "%s", line->rest + 4);
  return 0;
}
EXPORT int cuDeviceGetUuid_v2(unsigned char* bytes, int device) {
  const struct Line* line = find(device, "nvmlDeviceGetUUID");
  if (!line || strlen(line->rest) != 40) return 101;
  const char* at = line->rest + 4;
  for (int byte = 0; byte < 16; ++byte, at += 2) {
    unsigned value = 0;
    if (*at == '-') ++at;
    sscanf(at, "%2x", &value);
    bytes[byte] = (unsigned char)value;
  }
  return 0;
}
