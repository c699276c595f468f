// Random changes of headers and their elements, made to a keyspace and to a model of it.
#pragma once

#include <random>

#include "tests/storage/elements_fixture.h"

namespace weir::storage {

class RandomElements : public ElementsTest {
 protected:
  uint64_t pick(uint64_t bound) { return random_() % bound; }
  std::string any_key() { return "k" + std::to_string(pick(12)); }
  int any_database() { return static_cast<int>(pick(kDatabases)); }
  int64_t any_expiry() {
    return pick(4) == 0 ? now_ms() + static_cast<int64_t>(pick(pick(2) == 0 ? 3 : 200)) : 0;
  }
  std::string any_member() {
    const uint64_t which = pick(pick(3) == 0 ? 400 : 12);
    return pick(2) == 0 ? "m" + std::to_string(which) : number(which << 19);
  }
  ElementValue any_element() {
    return {pick(8), std::string(pick(20) == 0 ? pick(200) : pick(9), 'x')};
  }
  List any_list() {
    List list;
    layout_ = pick(2) == 0 ? Layout::kScattered : Layout::kInSequence;
    const uint64_t count = pick(6) == 0 ? pick(200) : pick(8);
    for (uint64_t i = 0; i < count; ++i) list[any_member()] = any_element();
    return list;
  }

  void run_command(Databases* model) {
    const Databases before = *model;
    now_ns_ += static_cast<int64_t>(pick(3'000'000));
    keys();
    for (uint64_t changes = 1 + pick(4); changes > 0; --changes) change(model);
    if (pick(5) != 0) return;
    keys_->running().roll_back();
    *model = before;
  }

  void change(Databases* model) {
    const int database = any_database();
    Records& records = (*model)[static_cast<size_t>(database)];
    const std::string key = any_key();
    const bool exists = keys_->look_up(database, key).exists();
    const uint64_t kind = pick(100);
    if (kind < 8) {
      records[key] = {
          .type = Type::kString, .payload = "s", .expire_at_ms = any_expiry(), .lists = {}};
      put_record(database, key, records[key]);
    } else if (kind < 25) {
      Record record = header_of(any_list(), any_expiry());
      if (pick(5) == 0) record.lists.push_back(any_list());
      records[key] = record;
      put_record(database, key, record);
    } else if (kind < 27) {
      make_list(database, any_list());  // nobody will name it
    } else if (kind < 35) {
      erase(database, key);
      records.erase(key);
    } else if (kind < 43) {
      if (exists) rename(database, key, any_key(), &records);
    } else if (kind < 50) {
      if (exists) set_expiry(database, key, &records[key]);
    } else if (kind < 55) {
      if (exists) copy(database, key, any_database(), any_key(), model);
    } else if (kind < 97) {
      if (exists && !records[key].lists.empty()) change_elements(database, key, &records[key]);
    } else if (kind < 98) {
      keys_->clear(database);
      records.clear();
    } else {
      const int other = any_database();
      keys_->swap(database, other);
      std::swap(records, (*model)[static_cast<size_t>(other)]);
    }
  }

  void rename(int database, const std::string& from, const std::string& to, Records* records) {
    Ref from_ref = keys_->look_up(database, from);
    Ref to_ref = keys_->look_up(database, to);
    keys_->rename(&from_ref, &to_ref);
    if (from == to) return;
    (*records)[to] = std::move((*records)[from]);
    records->erase(from);
  }

  void set_expiry(int database, const std::string& key, Record* record) {
    record->expire_at_ms = any_expiry();
    Ref ref = keys_->look_up(database, key);
    keys_->set_expiry(&ref, record->expire_at_ms);
  }

  void copy(int from_database, const std::string& from, int to_database, const std::string& to,
            Databases* model) {
    const Record record = (*model)[static_cast<size_t>(from_database)][from];
    if (record.lists.empty() || (from_database == to_database && from == to)) return;
    HeaderView header;
    const std::string payload(keys_->look_up(from_database, from).value());
    ASSERT_TRUE(parse_header(payload, &header));
    std::vector<ElementsId> ids;
    for (size_t i = 0; i < header.lists; ++i) {
      ids.push_back(keys_->lists().make(to_database, layout_of(header.ids[i])));
      ASSERT_TRUE(keys_->lists().copy(from_database, header.ids[i], to_database, ids.back()));
    }
    std::string copied;
    append_list_ids(&copied, ids);
    copied += header.rest;
    Ref ref = keys_->look_up(to_database, to);
    keys_->put(&ref, record.type, copied, record.expire_at_ms);
    (*model)[static_cast<size_t>(to_database)][to] = record;
  }

  void change_elements(int database, const std::string& key, Record* record) {
    const size_t which = pick(record->lists.size());
    auto list = list_of(database, key, which);
    List& model = record->lists[which];
    ASSERT_TRUE(list) << keys_->failure().message();
    for (uint64_t changes = 1 + pick(5); changes > 0; --changes) {
      const std::string member = any_member();
      if (pick(3) == 0) {
        ASSERT_EQ(list->erase(member), model.erase(member) == 1);
      } else if (pick(8) == 0) {
        erase_ranks(*list, &model);
      } else if (pick(4) == 0) {
        const ElementValue element = any_element();
        ASSERT_EQ(list->add(member, element.order, element.value),
                  model.emplace(member, element).second);
      } else {
        const ElementValue element = any_element();
        ASSERT_EQ(list->put(member, element.order, element.value), !model.contains(member));
        model[member] = element;
      }
    }
    ASSERT_EQ(list->size(), model.size());
  }

  void erase_ranks(Elements list, List* model) {
    const size_t first = pick(list.size() + 1);
    const size_t count = pick(std::min<size_t>(list.size() - first, 5) + 1);
    for (size_t rank = first; rank < first + count; ++rank)
      model->erase(std::string(list.at(rank).member));
    list.erase_ranks(first, count);
  }

  std::mt19937_64 random_;
};

}  // namespace weir::storage
